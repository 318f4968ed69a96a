// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the numbers on the pages with those of `kmemtrace report --json` and `diff --json`.
import { callsAgree } from './calls.mjs';
import { goTo, rowsOf, valueOf } from './reading.mjs';
import { kSelected } from './selected_time.mjs';

const kAllocators = ['slab', 'percpu', 'vmalloc', 'pages'];

function present(report) {
  return kAllocators.filter(
    (name) => report[name].allocations || report[name].frees || report[name].failed_allocations,
  );
}

async function totalsAgree(page, checks, report, hash, what, exact) {
  await goTo(page, hash);
  const rows = await rowsOf(page, 'totals');
  checks.equal(rows.length, present(report).length, `${what}: allocators`);
  for (const row of rows) {
    const totals = report[row.allocator];
    const of = `${what}: ${row.allocator}`;
    checks.equal(row.frees, totals.matched_frees ?? totals.lifetime.count, `${of} frees`);
    checks.equal(row.allocations, totals.allocations, `${of} allocations`);
    if (exact) checks.equal(row.freeEvents, totals.frees, `${of} free events`);
    checks.equal(row.allocated, totals.bytes_allocated, `${of} allocated`);
    checks.equal(row.live, totals.live_bytes, `${of} live bytes`);
    if (exact) checks.equal(row.peak, totals.peak_bytes, `${of} peak`);
    else checks.ok(row.peak === null || row.peak <= totals.peak_bytes, `${of} peak is not above the exact one`);
    if (totals.bytes_requested !== undefined) checks.equal(row.requested, totals.bytes_requested, `${of} requested`);
  }
}

// The sums for parts of the time must add up to the sums for the whole time.
async function partsAddUp(page, checks, report) {
  const buckets = 1e9 - 1; // end of the range; larger than the number of buckets
  const sums = {};
  const cut = 3;
  for (const range of [`0-${cut}`, `${cut}-${buckets}`]) {
    await goTo(page, `#overview?range=${range}`);
    for (const row of await rowsOf(page, 'totals')) {
      const sum = (sums[row.allocator] ??= { allocations: 0, allocated: 0, live: 0 });
      sum.allocations += row.allocations;
      sum.allocated += row.allocated;
      sum.live = row.live;
    }
  }
  for (const name of present(report)) {
    checks.equal(sums[name].allocations, report[name].allocations, `parts of the time: ${name} allocations`);
    if (report[name].bytes_allocated === null) continue;
    checks.equal(sums[name].allocated, report[name].bytes_allocated, `parts of the time: ${name} allocated`);
    checks.equal(sums[name].live, report[name].live_bytes, `parts of the time: ${name} live bytes at the end`);
  }
}

// The live memory at the end of a time range must equal that of the overview. Both ends of the range are multiples of
// the buckets in which the report stores `lives`.
async function windowAddsUp(page, checks) {
  for (const range of ['64-128', '128-320']) {
    await goTo(page, `#overview?range=${range}`);
    const totals = new Map((await rowsOf(page, 'totals')).map((row) => [row.allocator, row]));
    await goTo(page, `#timeline?range=${range}`);
    const rows = await rowsOf(page, 'window');
    checks.ok(rows.length > 0, 'the timeline shows what the selected time left behind');
    for (const row of rows) {
      const of = `memory of the time ${range}: ${row.allocator}`;
      checks.equal(row['live-at-end'], totals.get(row.allocator)?.live, `${of}, live at the end`);
      checks.equal(
        row['live-at-start'] - row['freed-older'] + row['left-live'],
        row['live-at-end'],
        `${of}, start and end`,
      );
      checks.equal(row['left-live'] + row['freed-inside'], totals.get(row.allocator)?.allocated, `${of}, allocated`);
    }
  }
}

const kClasses = {
  'left-live': 'left_live',
  'freed-inside': 'freed_inside',
  'freed-older': 'freed_older',
  throughout: 'throughout',
};

// The classes of the selected time, in total and of each call site, must equal those of `report --window`.
async function windowAgrees(page, checks, { window: totals, groups }) {
  await goTo(page, `#timeline?range=${kSelected.from}-${kSelected.to}`);
  for (const row of await rowsOf(page, 'window'))
    for (const [column, kind] of Object.entries(kClasses))
      checks.equal(row[column], totals[row.allocator][kind].bytes, `selected time: ${row.allocator} ${kind}`);
  const shown = new Map((await rowsOf(page, 'window-site')).map((row) => [`${row.allocator} ${row.name}`, row]));
  const wanted = new Map(); // several call sites may have the same name
  for (const [allocator, { rows }] of Object.entries(groups))
    for (const row of rows) {
      const key = `${allocator} ${keyOf(row, 'call-site')}`;
      const sums = wanted.get(key) ?? Object.fromEntries(Object.values(kClasses).map((kind) => [kind, 0]));
      for (const kind of Object.values(kClasses)) sums[kind] += row.window[kind].bytes;
      wanted.set(key, sums);
    }
  for (const [key, sums] of wanted) {
    if (Object.values(sums).every((sum) => sum === 0)) {
      checks.ok(!shown.has(key), `selected time: ${key} has no memory`);
      continue;
    }
    if (!checks.ok(shown.has(key), `selected time: ${key} is shown`)) continue;
    for (const [column, kind] of Object.entries(kClasses))
      checks.equal(shown.get(key)[column], sums[kind], `selected time: ${key} ${kind}`);
  }
  checks.ok(wanted.size > 0, 'selected time: call sites are compared');
}

function keyOf(row, key) {
  const value = row.keys[key];
  return value !== null && typeof value === 'object' ? value.symbol : value;
}

async function tableAgrees(page, checks, document, table, key) {
  await goTo(page, `#tables/${table}`);
  const shown = new Map();
  for (const row of await rowsOf(page, table)) shown.set(`${row.allocator} ${row.name}`, row);
  for (const [allocator, groups] of Object.entries(document.groups))
    for (const group of groups.rows.slice(0, 2000)) {
      const name = keyOf(group, key);
      if (name === null) continue;
      const row = shown.get(`${allocator} ${name}`);
      const what = `${table}: ${allocator} ${name}`;
      if (!checks.ok(row, `${what} is shown`)) continue;
      checks.equal(row.hits, group.allocations, `${what} hits`);
      checks.equal(row.requested, group.bytes_requested, `${what} requested`);
      checks.equal(row.allocated, group.bytes_allocated, `${what} allocated`);
      checks.equal(row.wasted, group.bytes_wasted, `${what} wasted`);
      checks.equal(row.frees, group.frees, `${what} frees`);
      checks.equal(row.freed, group.bytes_freed, `${what} freed`);
      checks.equal(row.live, group.live_allocations, `${what} live`);
      checks.equal(row['live-bytes'], group.live_bytes, `${what} live bytes`);
      checks.equal(row.peak, group.peak_bytes, `${what} peak`);
      checks.equal(row.pingpong, group.cross_cpu_frees, `${what} ping-pong`);
      if (group.lifetime.count > 0) checks.equal(row['p99-life'], group.lifetime.p99_ns, `${what} life 99%`);
    }
}

function ownerName(value) {
  if (value === null || typeof value === 'string') return value ?? 'unknown';
  return value.name + (value.is_guess ? ' (guess)' : '');
}

// The tables of modules, subsystems and directories consist of sums over time, so they have fewer columns.
async function ownersAgree(page, checks, document, table, key) {
  await goTo(page, `#tables/${table}`);
  const shown = new Map();
  for (const row of await rowsOf(page, table)) shown.set(`${row.allocator} ${row.name}`, row);
  for (const [allocator, groups] of Object.entries(document.groups))
    for (const group of groups.rows) {
      const what = `${table}: ${allocator} ${ownerName(group.keys[key])}`;
      const row = shown.get(`${allocator} ${ownerName(group.keys[key])}`);
      if (!checks.ok(row, `${what} is shown`)) continue;
      checks.equal(row.hits, group.allocations, `${what} hits`);
      checks.equal(row.allocated, group.bytes_allocated, `${what} allocated`);
      checks.equal(row['live-bytes'], group.live_bytes, `${what} live bytes`);
    }
}

async function ordersAgree(page, checks, report) {
  await goTo(page, '#tables/orders');
  const rows = await rowsOf(page, 'orders');
  checks.equal(rows.length, report.page_orders.length, 'page orders');
  report.page_orders.forEach((order, at) => {
    checks.equal(rows[at]?.allocations, order.allocations, `order ${order.order} allocations`);
    checks.equal(rows[at]?.['live-bytes'], order.live_bytes, `order ${order.order} live bytes`);
  });
}

async function anomaliesAgree(page, checks, report) {
  await goTo(page, '#anomalies');
  const kinds = Object.entries(report.anomalies);
  if (kinds.length === 0 && report.anomaly_sites.length === 0) return;
  const rows = await rowsOf(page, 'kinds');
  for (const [kind, count] of kinds)
    checks.equal(rows.find((row) => row.kind === kind)?.count, count, `anomalies ${kind}`);
  // Explained anomalies have a separate table. Neither table may omit rows.
  for (const [table, isExplained] of [
    ['anomalies', false],
    ['explained-anomalies', true],
  ]) {
    const wanted = report.anomaly_sites.filter((site) => site.explained === isExplained);
    if (wanted.length === 0) continue;
    const shown = await page.locator(`[data-table=${table}] table`).getAttribute('aria-rowcount');
    checks.equal(Number(shown) - 1, wanted.length, `rows of ${table}`);
  }
}

async function flameAgrees(page, checks, report) {
  for (const [metric, wanted] of [
    ['allocated', report.slab.bytes_allocated],
    ['hits', report.slab.allocations],
    ['live', report.slab.live_bytes],
  ]) {
    await goTo(page, '#flame?allocator=slab');
    const choice = await page.locator(`[data-focus="metric-${metric}"]`).count();
    if (!checks.ok(choice === 1, `the flame graph can show ${metric}`)) return;
    await page.click(`[data-focus="metric-${metric}"]`);
    if (wanted === 0) continue;
    checks.equal(await valueOf(page, '.chosen .number'), wanted, `root of the flame graph: ${metric}`);
  }
  await page.click('[data-focus="metric-allocated"]');
}

// If the trace cannot exclude growth, the pages must not say that nothing grows.
async function verdictAgrees(page, checks, { found, unclear }) {
  await goTo(page, '#leaks');
  const lead = await page.locator('main .lead').first().innerText();
  const wanted = found ? /^Something grows/ : unclear ? /^Growth cannot be judged/ : /^Nothing grows/;
  checks.ok(wanted.test(lead), `the page about leaks starts with ${wanted}: "${lead}"`);
}

export async function numbersAgree(page, checks, documents) {
  const { report, caches, modules, subsystems, directories, tasks, window, leaks, diff, graph } = documents;
  if (leaks && !diff) await verdictAgrees(page, checks, leaks);
  if (report) {
    checks.equal(await valueOf(page, '.facts dd[data-value]'), report.trace.duration_ns, 'duration');
    await totalsAgree(page, checks, report, '#overview', 'totals', true);
    await totalsAgree(page, checks, report, `#overview?range=0-${1e9 - 1}`, 'totals of sums over time', false);
    await partsAddUp(page, checks, report);
    await windowAddsUp(page, checks);
    await tableAgrees(page, checks, report, 'sites', 'call-site');
    await ordersAgree(page, checks, report);
    await anomaliesAgree(page, checks, report);
    await flameAgrees(page, checks, report);
  }
  if (window) await windowAgrees(page, checks, window);
  if (graph) await callsAgree(page, checks, graph);
  if (caches) await tableAgrees(page, checks, caches, 'caches', 'cache');
  if (modules) await ownersAgree(page, checks, modules, 'modules', 'module');
  if (subsystems) await ownersAgree(page, checks, subsystems, 'subsystems', 'subsystem');
  if (directories) await ownersAgree(page, checks, directories, 'directories', 'directory');
  if (tasks) await tableAgrees(page, checks, tasks, 'tasks', 'comm');
  if (diff) {
    for (const [allocator, groups] of Object.entries(diff.groups)) {
      await goTo(page, `#compare?allocator=${allocator}`);
      const rows = await rowsOf(page, 'diff');
      const shown = groups.rows.filter((group) => group.columns[diff.sort].a || group.columns[diff.sort].b);
      checks.equal(rows.length, shown.length, `comparison: rows of ${allocator}`);
      for (const group of shown) {
        const name = Object.values(group.keys).join(', ');
        const row = rows.find((one) => one.name === name);
        if (!checks.ok(row, `comparison: ${name} is shown`)) continue;
        const column = group.columns[diff.sort];
        for (const key of ['a', 'b', 'difference', 'percent'])
          checks.equal(row[key], column[key], `comparison: ${name} ${key}`);
      }
    }
    const group = diff.groups.slab.rows[0];
    const site = `${Object.values(group.keys)[0]}.part.0+0x2b`;
    await goTo(page, `#compare?allocator=slab&site=${encodeURIComponent(site)}`);
    checks.equal((await rowsOf(page, 'diff')).length, 1, `comparison: rows of ${site}`);
    await goTo(page, '#compare?task=nobody');
    checks.ok(
      (await page.locator('main .note', { hasText: 'Not filtered here by task' }).count()) > 0,
      'comparison: says what it does not filter by',
    );
  }
}
