// SPDX-License-Identifier: GPL-2.0-or-later
// Opens flame graphs in Chromium, uses them like a person, and compares the shown values with `report --json`.
//   node flamegraph_svg.mjs KMEMTRACE NODE_MODULES CHROMIUM OUT      (KMEMTRACE_DATA in the environment)
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';
import { Checks } from './checks.mjs';

const [program, modules, chromium, out] = process.argv.slice(2);
const kWhole = { x: 10, width: 1260 }; // the flame graph is made for a window of 1280 pixels
const kNarrow = 0.1; // in pixels; a narrower frame cannot be clicked

const run = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const near = (a, b, by = 0.01) => Math.abs(a - b) <= by;
const numberIn = (text) => Number(/\(([\d,]+) bytes\)/.exec(text)[1].replaceAll(',', ''));

// Returns all frames with their current text and position.
const framesOf = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('#frames > g')].map((group, index) => {
      const rect = group.querySelector('rect');
      return {
        index,
        name: group.dataset.name,
        title: group.querySelector('title').textContent,
        shown: group.style.display !== 'none',
        x: Number(rect.getAttribute('x')),
        y: Number(rect.getAttribute('y')),
        width: Number(rect.getAttribute('width')),
        fill: rect.getAttribute('fill'),
      };
    }),
  );
const said = (page) => page.locator('#said').textContent();
const middleOf = (page, { x, y, width }) => page.mouse.move(x + width / 2, y + 8);

async function search(page, wanted, begin) {
  await page.keyboard.press('Escape'); // removes the focus from the input field
  await begin();
  await page.keyboard.press('Delete');
  if (wanted !== '') await page.keyboard.insertText(wanted);
  return said(page);
}

const within = (frame, of) => frame.x >= of.x - 0.002 && frame.x + frame.width <= of.x + of.width + 0.002;
const isWhole = (frame) => near(frame.x, kWhole.x) && near(frame.width, kWhole.width);

async function zooms(page, before, checks) {
  const rows = [...new Set(before.map(({ y }) => y))].sort((a, b) => b - a);
  const frame = before.find(({ y, width }) => y === rows[2] && width > 20 && width < 1100);
  checks.ok(frame !== undefined, 'there is a frame to zoom into');
  await middleOf(page, frame);
  checks.ok((await said(page)) === frame.title, `the pointer shows ${frame.name}`);
  await page.mouse.click(frame.x + frame.width / 2, frame.y + 8);
  const after = await framesOf(page);
  checks.ok(isWhole(after[frame.index]), `${frame.name} is as wide as the picture`);
  const scale = kWhole.width / frame.width;
  for (const one of before) {
    const now = after[one.index];
    if (one.y > frame.y && within(frame, one))
      checks.ok(isWhole(now), `what calls ${frame.name} is whole: ${one.name}`);
    else if (within(one, frame) && one.y <= frame.y)
      checks.ok(near(now.width, Math.min(one.width * scale, kWhole.width), 0.002 * scale), `${one.name} grows`);
    else if (one.x + one.width <= frame.x || one.x >= frame.x + frame.width)
      checks.ok(!now.shown, `${one.name} goes away`);
  }
}

async function goesBack(page, before, how, checks) {
  const after = await framesOf(page);
  checks.ok(
    before.every(
      (frame, i) => after[i].shown === frame.shown && near(after[i].x, frame.x) && near(after[i].width, frame.width),
    ),
    `${how} goes back`,
  );
}

// Returns the bytes of each allocator, and the bytes of all stacks that contain a function.
function reportOf(trace) {
  const totals = JSON.parse(run('report', '--json', trace));
  const { groups } = JSON.parse(run('report', '--json', '--limit', '0', '--by', 'stack', trace));
  const bytes = {};
  for (const name of ['slab', 'pages', 'percpu', 'vmalloc'])
    if (totals[name].bytes_allocated > 0) bytes[name] = totals[name].bytes_allocated;
  const shareOf = (allocator, called) => {
    let sum = 0;
    for (const row of groups[allocator].rows)
      if (row.keys.stack?.some(({ symbol }) => symbol?.split('+')[0] === called)) sum += row.bytes_allocated;
    return (100 * sum) / bytes[allocator];
  };
  return { bytes, shareOf };
}

async function searches(page, reported, before, checks) {
  const called = 'do_syscall_64';
  const found = before.filter(({ name }) => name === called);
  checks.ok(found.length > 0, `${called} is drawn`);
  const text = await search(page, `^${called}$`, () => page.keyboard.press('/'));
  checks.ok(text.startsWith(`${found.length} frames match: `), `search counts: ${text}`);
  const shares = Object.fromEntries(
    [...text.matchAll(/([\d.]+) % of (\w+)/g)].map(([, share, of]) => [of, Number(share)]),
  );
  checks.ok(
    Object.keys(shares).sort().join() === Object.keys(reported.bytes).sort().join(),
    `shares of each allocator: ${text}`,
  );
  for (const [of, share] of Object.entries(shares))
    checks.ok(
      near(share, reported.shareOf(of, called), 0.1),
      `${of}: ${share} is ${reported.shareOf(of, called)} by --json`,
    );
  const coloured = (await framesOf(page)).filter(({ fill }) => fill === 'rgb(150,60,230)');
  checks.ok(
    coloured.length === found.length && coloured.every(({ name }) => name === called),
    'what is found is coloured',
  );
  const all = await search(page, '.', () => page.keyboard.press('Control+f'));
  for (const of of Object.keys(reported.bytes)) checks.ok(all.includes(`100.00 % of ${of}`), `all of ${of}: ${all}`);
  checks.ok(
    (await search(page, '(', () => page.keyboard.press('/'))).includes('SyntaxError'),
    'a wrong pattern is reported',
  );
  checks.ok((await search(page, '', () => page.keyboard.press('/'))).startsWith('0 frames'), 'nothing is looked for');
  checks.ok(
    (await framesOf(page)).every(({ fill }, i) => fill === before[i].fill),
    'colours come back',
  );
}

// Arrow keys must move to the frames above and beside the current frame, and Enter must zoom.
async function keysMove(page, before, away, checks) {
  const height = before[1].y - before[0].y;
  const on = before.filter(({ y, shown }) => shown && y === before[0].y + height).sort((a, b) => a.x - b.x);
  const widest = on.reduce((a, b) => (b.width > a.width ? b : a));
  await page.keyboard.press('Escape');
  await page.locator('#frames > g').first().focus();
  checks.ok((await said(page)) === before[0].title, 'the focus shows the total');
  await page.keyboard.press(`Arrow${away}`);
  checks.ok((await said(page)) === widest.title, `an arrow key goes to ${widest.name}`);
  await page.keyboard.press('Enter');
  checks.ok(isWhole((await framesOf(page))[widest.index]), `Enter zooms into ${widest.name}`);
  await page.keyboard.press('Escape');
  await goesBack(page, before, 'Escape on a frame', checks);
  const next = on[on.indexOf(widest) + 1] ?? on[on.indexOf(widest) - 1];
  await page.keyboard.press(next.x > widest.x ? 'ArrowRight' : 'ArrowLeft');
  checks.ok((await said(page)) === next.title, `an arrow key goes to ${next.name}`);
  checks.ok((await page.locator('#frames > g[tabindex="0"]').count()) === 1, 'Tab leads to one frame');
}

async function fits(page, checks) {
  for (const width of [700, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    const fitting = page.waitForFunction(
      (wanted) => Number(document.querySelector('#frames rect').getAttribute('width')) === wanted,
      width - 20,
      { timeout: 5000 },
    );
    checks.ok(
      await fitting.then(
        () => true,
        () => false,
      ),
      `${width} pixels wide`,
    );
    checks.ok(await page.locator('input').isVisible(), 'the field is there');
  }
}

async function check(browser, name, trace, ...options) {
  const checks = new Checks(name);
  const file = path.join(out, `${name}.svg`);
  run('flamegraph', trace, '-o', file, ...options);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const wrongs = [];
  page.on('console', (message) => wrongs.push(message.text()));
  page.on('pageerror', (error) => wrongs.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(path.resolve(file)).href) wrongs.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(path.resolve(file)).href);
  await page.screenshot({ path: path.join(out, `${name}.png`) });

  const reported = reportOf(trace);
  const before = await framesOf(page);
  const total = Object.values(reported.bytes).reduce((a, b) => a + b);
  for (const [of, bytes] of Object.entries(reported.bytes)) {
    const frame = before.find((one) => one.name === `[${of}]`);
    if ((kWhole.width * bytes) / total < kNarrow) continue;
    checks.ok(numberIn(frame.title) === bytes, `${frame.title} is ${bytes} by --json`);
    await middleOf(page, frame);
    checks.ok((await said(page)).includes(`100.00 % of ${of}`), `the pointer shows ${of}`);
  }
  checks.ok(isWhole(before[0]) && !before[0].title.includes('%'), `all has no share: ${before[0].title}`);
  if (!options.includes('caller-first')) {
    await zooms(page, before, checks);
    await page.keyboard.press('Escape');
    await goesBack(page, before, 'Escape', checks);
    await zooms(page, before, checks);
    await page.locator('button').click();
    await goesBack(page, before, 'the button', checks);
    await zooms(page, before, checks);
    await page.locator('button').focus();
    await page.keyboard.press('Enter');
    await goesBack(page, before, 'Enter on the button', checks);
  }
  await searches(page, reported, before, checks);
  const text = await search(page, 'x', () => page.locator('input').click());
  checks.ok(text.includes('frames match'), 'the field searches');
  await keysMove(page, before, options.includes('caller-first') ? 'Down' : 'Up', checks);
  await fits(page, checks);
  checks.ok(wrongs.length === 0, `nothing went wrong: ${wrongs}`);
  await page.close();
  console.log(`${name}: ${checks.passed} passed, ${checks.failures.length} failed`);
  return checks.failures.length === 0;
}

mkdirSync(out, { recursive: true });
const data = process.env.KMEMTRACE_DATA;
const browser = await launch(modules, chromium);
let good = true;
try {
  const stacks = path.join(data, 'amd64-stacks/trace.dat');
  good = (await check(browser, 'stacks', stacks)) && good;
  good = (await check(browser, 'callers', stacks, '--by', 'caller-first')) && good;
} finally {
  await browser.close();
}
process.exitCode = good ? 0 : 1;
