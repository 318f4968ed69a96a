// SPDX-License-Identifier: GPL-2.0-or-later
// Operates a report like a user: keys, sorting, a brush, filters, zooming. All of these must work.
import { goTo, rowsOf, settle, valueOf } from './reading.mjs';

export async function keysWork(page, checks) {
  await goTo(page, '#overview');
  await page.locator('footer').click();
  const pages = ['overview', 'timeline', 'flame', 'tables', 'waste', 'lifetimes', 'cpus', 'leaks', 'anomalies'];
  for (const [at, name] of pages.entries()) {
    await page.keyboard.press(String(at + 1));
    await settle(page);
    checks.equal(await page.getAttribute('[aria-selected=true]', 'id'), `tab-${name}`, `key ${at + 1}`);
  }
  await page.keyboard.press('ArrowLeft');
  await settle(page);
  checks.equal(await page.getAttribute('[aria-selected=true]', 'id'), 'tab-leaks', 'arrow to the left');
  await page.keyboard.press('?');
  checks.ok((await page.locator('dialog[open]').innerText()).includes('unaccounted'), 'keys and terms are shown');
  await page.keyboard.press('Escape');
  checks.equal(await page.locator('dialog[open]').count(), 0, 'the help is closed');
  await goTo(page, '#tables/sites');
  await page.keyboard.press('/');
  checks.ok(await page.evaluate(() => document.activeElement.matches('[data-search]')), '"/" goes to the search');
  await page.keyboard.press('Escape');
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press('d');
  checks.ok(before !== (await page.evaluate(() => document.documentElement.dataset.theme)), '"d" switches the theme');
  await page.keyboard.press('d');
}

// Tabs must follow WAI-ARIA: arrow keys move between the tabs, and the selected tab has the focus.
export async function tabsMove(page, checks) {
  await goTo(page, '#overview');
  await page.focus('[role=tab][aria-selected=true]');
  const steps = ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'ArrowRight', 'ArrowLeft', 'Home'];
  const tabs = await page.locator('[role=tab]').evaluateAll((all) => all.map((tab) => tab.id));
  let at = 0;
  for (const key of steps) {
    await page.keyboard.press(key);
    await settle(page);
    if (key === 'Home') at = 0;
    else if (key === 'End') at = tabs.length - 1;
    else at = (at + (key === 'ArrowRight' ? 1 : -1) + tabs.length) % tabs.length;
    const chosen = await page.getAttribute('[aria-selected=true]', 'id');
    const focused = await page.evaluate(() => document.activeElement.id);
    checks.equal(chosen, tabs[at], `${key} among the tabs chooses`);
    checks.equal(focused, tabs[at], `${key} among the tabs moves the focus`);
    checks.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1, 'one tab can be reached by the Tab key');
  }
}

// When a plot is replaced, it must remove its event listeners.
export async function plotsAreFreed(page, checks) {
  await goTo(page, '#timeline');
  for (let round = 0; round < 20; ++round) await page.keyboard.press('d');
  await settle(page);
  await settle(page);
  const shown = await page.locator('.uplot').count();
  checks.equal(await page.evaluate(() => window.kmemtrace.livePlots()), shown, 'plots that listen after 20 redraws');
  await goTo(page, '#overview');
  await settle(page);
  checks.equal(await page.evaluate(() => window.kmemtrace.livePlots()), 0, 'plots that listen where none is shown');
}

// The first page must start with growth, then waste, then churn. The growth must be that of `kmemtrace leaks --json`.
// Each sentence must have a link to its numbers.
export async function resultsStandOut(page, checks, leaks) {
  const kinds = () => page.locator('li[data-kind]').evaluateAll((all) => all.map((item) => item.dataset.kind));
  await goTo(page, '#overview');
  checks.equal((await kinds()).join(' '), 'growth waste churn', 'order of what stands out');
  const growth = await page.locator('li[data-kind=growth]').innerText();
  const rows = Object.values(leaks?.groups ?? {}).flatMap((groups) => groups.rows);
  const verdicts = Object.keys(leaks?.verdicts ?? {});
  const growing = verdicts.slice(0, verdicts.indexOf('unsure'));
  const worst = growing.find((verdict) => rows.some((row) => row.verdict === verdict));
  // Undefined: no group grows.
  const shown = growth.includes('for certain') ? 'certain' : /is not certain to \((\S+)\)/.exec(growth)?.[1];
  if (leaks) checks.equal(shown, worst, `verdict on growth in "${growth}"`);
  for (const [kind, wanted] of [
    ['growth', 'leaks'],
    ['waste', 'waste'],
    ['churn', 'lifetimes'],
  ]) {
    await goTo(page, '#overview');
    await page.locator(`li[data-kind=${kind}] .link`).click();
    await settle(page);
    checks.equal(
      await page.getAttribute('[aria-selected=true]', 'id'),
      `tab-${wanted}`,
      `${kind} leads to its numbers`,
    );
  }
}

// On a phone, the names in a table and the column by which it is sorted must stay visible.
export async function namesStay(page, checks) {
  await goTo(page, '#tables/sites');
  for (const key of ['allocated', 'live-bytes', 'p99-life']) {
    const head = page.locator(`[data-focus="sites-${key}"]`);
    if (!checks.ok((await head.count()) === 1, `call sites have a column ${key}`)) continue;
    await head.evaluate((button) => button.click());
    const places = await page.evaluate((sorted) => {
      const frame = document.querySelector('[data-table=sites] .table');
      const cell = (column) => frame.querySelector(`td[data-column="${column}"]`)?.getBoundingClientRect();
      const right = cell(sorted)?.right ?? Infinity;
      frame.scrollLeft = 200;
      const left = cell('name')?.left ?? Infinity;
      const edge = frame.getBoundingClientRect().left;
      frame.scrollLeft = 0;
      return { right, moved: Math.abs(left - edge), width: window.innerWidth };
    }, key);
    checks.ok(places.right <= places.width, `${key} is in sight where it is sorted by: ends at ${places.right}`);
    checks.ok(places.moved < 4, `names stay while columns are scrolled: moved by ${places.moved}`);
  }
}

export async function tablesSort(page, checks) {
  await goTo(page, '#tables/sites');
  if (!checks.ok((await rowsOf(page, 'sites')).length > 1, 'call sites are shown')) return;
  for (const [key, order] of [
    ['hits', 'descending'],
    ['hits', 'ascending'],
    ['name', 'ascending'],
    ['allocated', 'descending'],
  ]) {
    await page.click(`[data-focus="sites-${key}"]`);
    const head = page.locator('th', { has: page.locator(`[data-focus="sites-${key}"]`) });
    checks.equal(await head.getAttribute('aria-sort'), order, `sorted by ${key}`);
    const values = (await rowsOf(page, 'sites')).map((row) => row[key]).filter((value) => value !== null);
    const sorted = values.every(
      (value, at) => at === 0 || (order === 'descending' ? values[at - 1] >= value : values[at - 1] <= value),
    );
    checks.ok(sorted, `rows are in the order of ${key}, ${order}`);
  }
  const all = await rowsOf(page, 'sites');
  const part = all[0].name.slice(0, 8);
  await page.fill('[data-focus="sites-filter"]', part);
  const left = await rowsOf(page, 'sites');
  const wanted = all.filter((row) => row.name.toLowerCase().includes(part.toLowerCase())).length;
  checks.equal(left.length, wanted, `rows with "${part}"`);
  await page.fill('[data-focus="sites-filter"]', '');
}

export async function timeIsBrushed(page, checks) {
  await goTo(page, '#timeline');
  if (!checks.ok((await page.locator('.u-over').count()) > 0, 'there is a plot to brush')) return;
  const box = await page.locator('.u-over').first().boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
  await page.evaluate(() => {
    window.redraws = 0;
    new MutationObserver(() => ++window.redraws).observe(document.body, { childList: true });
  });
  await page.mouse.up();
  await settle(page);
  checks.equal(await page.evaluate(() => window.redraws), 1, 'redraws by a brush');
  const hash = await page.evaluate(() => location.hash);
  if (!checks.ok(/range=\d+-\d+/.test(hash), `the brush chooses a time: ${hash}`)) return;
  checks.equal(await page.locator('.chip').count(), 1, 'a chip shows the time range');
  for (const name of ['overview', 'flame', 'tables', 'waste', 'lifetimes', 'cpus', 'leaks', 'anomalies']) {
    await page.click(`#tab-${name}`);
    await settle(page);
    checks.ok((await page.evaluate(() => location.hash)).includes('range='), `the time stays chosen on ${name}`);
  }
  await page.keyboard.press('r');
  await settle(page);
  checks.equal(await page.locator('.chip').count(), 0, '"r" shows the whole time');
}

export async function filtersWork(page, checks) {
  await goTo(page, '#tables/sites');
  const row = (await rowsOf(page, 'sites')).find((one) => one.allocator === 'slab' && one.allocated > 0);
  if (!checks.ok(row, 'a call site of the slab allocator is shown')) return;
  await page
    .locator('[data-table=sites] tbody tr', { has: page.locator(`td[data-column=allocator][data-value=slab]`) })
    .first()
    .click();
  await settle(page);
  checks.equal(await page.locator('.chip').count(), 1, 'a row filters by its call site');
  await goTo(page, `${(await page.evaluate(() => location.hash)).replace('tables/sites', 'tables/caches')}`);
  const caches = (await rowsOf(page, 'caches')).filter((one) => one.allocator === 'slab');
  const hits = caches.reduce((sum, one) => sum + one.hits, 0);
  const groupsLeftOut = await page.locator('.note', { hasText: '(others)' }).count();
  if (!groupsLeftOut) checks.equal(hits, row.hits, `caches of ${row.name} have its hits`);
  await page.click('#tab-flame');
  await settle(page);
  if (!groupsLeftOut)
    checks.equal(await valueOf(page, '.chosen .number'), row.allocated, `the flame graph of ${row.name} has its bytes`);
  await page.keyboard.press('x');
  await settle(page);
  checks.equal(await page.locator('.chip').count(), 0, '"x" takes filters away');
}

export async function flameZooms(page, checks) {
  await goTo(page, '#flame');
  const canvas = page.locator('.flame canvas');
  if (!checks.ok((await canvas.count()) === 1, 'there is a flame graph')) return;
  const box = await canvas.boundingBox();
  const isZoomed = () => page.locator('[data-focus="flame-reset"]:visible').count();
  let zoomed = 0;
  for (const [x, row] of [
    [0.15, 1],
    [0.4, 2],
    [0.3, 4],
  ]) {
    await page.mouse.click(box.x + box.width * x, box.y + row * 19 + 9);
    await page.waitForTimeout(260);
    zoomed += await isZoomed();
  }
  checks.ok(zoomed > 0, 'a click zooms');
  await canvas.focus();
  await page.keyboard.press('Escape');
  await page.waitForTimeout(260);
  checks.equal(await isZoomed(), 0, 'Escape shows all again');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  const name = await page.locator('.chosen b').innerText();
  checks.ok(name.length > 0 && !name.startsWith('all of'), 'an arrow key goes to a frame');
  const search = name.slice(0, 6);
  await page.fill('[data-focus="flame-search"]', search);
  checks.ok((await valueOf(page, '.counted[data-value]')) > 0, `"${search}" is found`);
  await page.fill('[data-focus="flame-search"]', '');
}
