// SPDX-License-Identifier: GPL-2.0-or-later
// Opens HTML reports in Chromium, uses them like a person, and compares them with the output of `kmemtrace … --json`.
//   node check_reports.mjs --modules FOLDER [--chromium PROGRAM] [--shots FOLDER] [--open-ms N] [--large REPORT.html]
//                          [--none REPORT.html] [--found REPORT.html]… [--brief REPORT.html]… REPORT.html…
// --shots: the folder for screenshots of all pages.
// --large: this report must stay responsive.
// --none: this report is of a trace without memory events, and must only state that.
// --found: this report is of an investigation; its claims must link to numbers.
// --brief: only the numbers of this report are compared, and each page is opened once, because only the data differ.
// Reports that are not brief, and reports with calls, are tried at widths of 390, 1280 and 1920 pixels. The first report
// and those of investigations are also tried in dark colors. Colors hardly depend on data.
// These files may be next to REPORT.html; if they exist, the numbers must be the same: REPORT.report.json
// (report --json --limit 2000), REPORT.caches.json (the same with --by cache), REPORT.modules.json (--by module),
// REPORT.subsystems.json (--by subsystem), REPORT.directories.json (--by directory),
// REPORT.tasks.json (--by comm), REPORT.window.json (--window with the time of selected_time.mjs), REPORT.leaks.json
// (leaks --json), REPORT.diff.json and REPORT.graph.json (graph --json --args --ret --limit 0).
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { barriers } from './access.mjs';
import { launch, open } from './browser.mjs';
import { Checks } from './checks.mjs';
import {
  filtersWork,
  flameZooms,
  keysWork,
  namesStay,
  plotsAreFreed,
  resultsStandOut,
  tablesSort,
  tabsMove,
  timeIsBrushed,
} from './doing.mjs';
import { balanceIsIndented, claimsLead, showsSinceWhen, wholeInvestigationCounts } from './findings.mjs';
import { misplaced } from './geometry.mjs';
import { staysFluid, showsRareOnes } from './large.mjs';
import { numbersAgree } from './numbers.mjs';
import { goTo, settle } from './reading.mjs';

const kLight = { name: 'light', width: 1280, height: 900, dark: false };
const kDark = { name: 'dark', width: 1280, height: 900, dark: true };
const kWide = { name: 'wide', width: 1920, height: 1080, dark: false };
const kPhone = { name: 'phone', width: 390, height: 844, dark: false };
const kOpenings = 4; // maximum number of times that a report is opened

const { values, positionals: reports } = parseArgs({
  allowPositionals: true,
  options: {
    modules: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
    shots: { type: 'string' },
    'open-ms': { type: 'string', default: '10000' },
    large: { type: 'string' },
    none: { type: 'string' },
    found: { type: 'string', multiple: true, default: [] },
    brief: { type: 'string', multiple: true, default: [] },
  },
});

const kDocuments = [
  'report',
  'caches',
  'modules',
  'subsystems',
  'directories',
  'tasks',
  'window',
  'leaks',
  'diff',
  'graph',
];

function documentsOf(report) {
  const documents = {};
  for (const name of kDocuments) {
    const file = report.replace(/\.html$/, `.${name}.json`);
    if (existsSync(file)) documents[name] = JSON.parse(readFileSync(file, 'utf8'));
  }
  return documents;
}

const isBrief = (report) => values.brief.includes(report);
const isLarge = (report) => report === values.large;
const isNone = (report) => report === values.none;
const isFound = (report) => values.found.includes(report);

// The report of a trace without memory events must have no empty tables, and no pages without content.
async function saysThatThereIsNothing(page, checks) {
  const tabs = await page.locator('[role=tab]').evaluateAll((all) => all.map((tab) => tab.id));
  checks.equal(tabs.join(' '), 'tab-overview', 'pages of a trace without memory events');
  checks.equal(await page.locator('.empty').count(), 1, 'the reason is shown once');
  checks.equal(await page.locator('td.none').count(), 0, 'empty tables');
  await page.keyboard.press('3');
  checks.equal(
    await page.getAttribute('[aria-selected=true]', 'id'),
    'tab-overview',
    'keys of pages that are not there',
  );
}

async function workWith(page, checks, report) {
  await numbersAgree(page, checks, documentsOf(report));
  if (isBrief(report)) return;
  await flameZooms(page, checks);
  if (isLarge(report)) {
    await staysFluid(page, checks);
    await showsRareOnes(page, checks);
  } else {
    await resultsStandOut(page, checks, documentsOf(report).leaks);
    await tablesSort(page, checks);
    await filtersWork(page, checks);
    await keysWork(page, checks);
    await tabsMove(page, checks);
    await timeIsBrushed(page, checks);
    await plotsAreFreed(page, checks);
  }
}

async function clickThrough(page, checks, report, look) {
  for (const tab of await page.locator('[role=tab]').all()) {
    const name = (await tab.getAttribute('id')).replace('tab-', '');
    await tab.click();
    await settle(page);
    await settle(page);
    const what = `${name}, ${look.name}`;
    checks.ok((await page.locator('main').innerText()).trim().length > 20, `${what}: shows something`);
    for (const wrong of [...(await barriers(page)), ...(await misplaced(page))]) checks.ok(false, `${what}: ${wrong}`);
    if (name === 'overview' && look.width >= 1280) {
      const frames = page.locator('[data-table=totals] .table');
      for (const frame of await frames.all())
        checks.ok(await frame.evaluate((box) => box.scrollWidth <= box.clientWidth + 1), `${what}: totals fit`);
    }
    if (values.shots)
      await page.screenshot({
        path: path.join(values.shots, `${path.basename(report, '.html')}-${name}-${look.name}.png`),
        fullPage: look.name === 'light',
      });
  }
}

async function openIn(browser, report, look, checks, work) {
  const { page, wrongs, opened, close } = await open(browser, report, look);
  await clickThrough(page, checks, report, look);
  await work?.(page);
  for (const wrong of wrongs) checks.ok(false, `${look.name}: ${wrong}`);
  checks.ok(wrongs.length === 0, 'nothing went wrong');
  await close();
  return opened;
}

// Returns the window sizes and themes with which a report is opened, in addition to kLight.
function looksOf(report) {
  if (report === reports[0]) return [kDark, kWide, kPhone];
  if (isBrief(report)) return documentsOf(report).graph ? [kWide, kPhone] : [];
  return isFound(report) ? [kDark, kWide, kPhone] : [kWide, kPhone];
}

async function check(browser, report) {
  const checks = new Checks(path.basename(report));
  const begun = performance.now();
  let opened = await openIn(browser, report, kLight, checks, async (page) => {
    if (isNone(report)) await saysThatThereIsNothing(page, checks);
    else if (isFound(report)) {
      await goTo(page, '#findings');
      await claimsLead(page, checks);
      await showsSinceWhen(page, checks);
      await balanceIsIndented(page, checks);
      await wholeInvestigationCounts(page, checks);
    } else await workWith(page, checks, report);
  });
  // Use the fastest of several rounds, because other programs can only make a round slower.
  const wanted = Number(values['open-ms']);
  for (let round = 1; round < kOpenings && opened >= wanted; ++round) {
    const again = await open(browser, report);
    opened = Math.min(opened, again.opened);
    await again.close();
  }
  checks.ok(opened < wanted, `opens in ${wanted} ms: took ${opened}`);
  const hasSites = !isBrief(report) && !isFound(report) && !isNone(report);
  for (const look of looksOf(report))
    await openIn(browser, report, look, checks, look === kPhone && hasSites ? (page) => namesStay(page, checks) : null);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${path.basename(report)}: opened in ${opened} ms, ${checks.passed} checks in ${seconds} s`);
  return checks;
}

if (values.shots) mkdirSync(values.shots, { recursive: true });
const browser = await launch(values.modules, values.chromium);
let passed = 0;
let failed = 0;
try {
  for (const report of [...reports, ...values.brief, values.large, values.none, ...values.found].filter(Boolean)) {
    const checks = await check(browser, report);
    passed += checks.passed;
    failed += checks.failures.length;
  }
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || !passed ? 1 : 0;
