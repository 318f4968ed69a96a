// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the page of calls with the output of `kmemtrace graph --json --args --ret --limit 0`, and operates the page
// like a user.
import { goTo, rowsOf, settle } from './reading.mjs';

const kHeld = 1000; // how many of the first calls and of the slowest calls are compared
const kSums = { '': 'bytes', '-hits': 'allocations', '-live': 'live_bytes' };

// Compares the memory allocated inside a call, for each allocator that any call uses.
function insideAgrees(checks, row, inside, allocators, what) {
  for (const name of allocators)
    for (const [suffix, key] of Object.entries(kSums))
      checks.equal(row[name + suffix], inside[name]?.[key], `${what}: ${name} ${key}`);
}

// Returns the calls that the page must contain.
function heldCalls(graph) {
  const places = graph.calls.map((_, at) => at);
  const slowest = places
    .filter((at) => graph.calls[at].duration_ns !== null)
    .sort((a, b) => graph.calls[b].duration_ns - graph.calls[a].duration_ns || a - b)
    .slice(0, kHeld);
  const held = new Set([...places.slice(0, kHeld), ...slowest]);
  return places.filter((at) => held.has(at)).map((at) => graph.calls[at]);
}

// True if a value is shown correctly. Addresses and flags are shown in hexadecimal, other values in decimal.
function sameValue(shown, value) {
  if (value === null) return /^\((on the stack, )?not recorded\)$/.test(shown);
  if (shown === String(value)) return true;
  if (shown === 'NULL') return Number(value) === 0;
  if (shown === `${value} (AT_FDCWD)`) return true;
  return /^0x[0-9a-f]+( \(.*\))?$/.test(shown) && Number(shown.split(' ')[0]) === value;
}

// Returns the shown values of the arguments by name.
function shownValues(text, names) {
  let at = text.indexOf('(') + 1;
  return names.map((name, i) => {
    const begin = at + name.length + 1;
    const end = i + 1 < names.length ? text.indexOf(`, ${names[i + 1]}=`, begin) : text.search(/\)( = .*)?$/);
    at = end + 2;
    return text.slice(begin, end);
  });
}

// Returns the expected text of a call. If the shown value of an argument is correct, its text is taken from the page.
function shownCall(text, call) {
  const names = Object.keys(call.arguments ?? {});
  const shown = shownValues(text, names);
  const given = names.map((name, at) => [
    name,
    sameValue(shown[at], call.arguments[name]) ? shown[at] : call.arguments[name],
  ]);
  return written({ ...call, arguments: Object.fromEntries(given) });
}

function written(call) {
  const given = Object.entries(call.arguments ?? {}).map(([name, value]) => `${name}=${value ?? '?'}`);
  const result = call.error ?? call.result ?? call.return_value;
  return `${call.function}(${given.join(', ')})${result === null ? '' : ` = ${result}`}`;
}

function functionsAgree(checks, rows, graph, allocators) {
  checks.equal(rows.length, graph.functions.length, 'calls: functions');
  checks.ok(
    rows.every((row, at) => at === 0 || rows[at - 1]['total-time'] >= row['total-time']),
    'calls: functions are in the order of their time',
  );
  for (const of of graph.functions) {
    const row = rows.find((one) => one.name === of.function && one['total-time'] === of.total_ns);
    const what = `calls: ${of.function}`;
    if (!checks.ok(row, `${what} is shown, with its time`)) continue;
    checks.equal(row.calls, of.calls, `${what} calls`);
    checks.equal(row['self-time'], of.self_ns, `${what} self`);
    checks.equal(row.longest, of.longest_ns, `${what} longest`);
    checks.equal(row['cut-off'], of.cut_off, `${what} cut off`);
    checks.equal(row.lost, of.lost_events, `${what} lossy`);
    insideAgrees(checks, row, of.inside, allocators, what);
  }
}

export async function callsAgree(page, checks, graph) {
  await goTo(page, '#calls');
  const allocators = ['slab', 'percpu', 'vmalloc', 'pages'].filter((name) =>
    graph.functions.some((of) => of.inside[name]),
  );
  functionsAgree(checks, await rowsOf(page, 'functions'), graph, allocators);
  const held = heldCalls(graph);
  const rows = await rowsOf(page, 'calls');
  checks.equal(rows.length, held.length, 'calls that are shown');
  held.forEach((call, at) => {
    const row = rows[at] ?? {};
    const what = `call ${at + 1}, ${call.function}`;
    checks.equal(row.call, shownCall(row.call ?? '', call), what);
    checks.equal(row.begin, call.began_ns, `${what}: begin`);
    checks.equal(row.duration, call.duration_ns, `${what}: duration`);
    checks.equal(row.cpu, call.cpu, `${what}: CPU`);
    checks.equal(row.task, `${call.task}-${call.tid}`, `${what}: task`);
    checks.equal(row.remarks.includes(call.interrupt ?? 'irq'), call.interrupt !== null, `${what}: interrupt`);
    checks.equal(row.remarks.includes('on top'), call.on_top, `${what}: on top`);
    checks.equal(row.remarks.includes(call.only_missed ? 'missed' : 'lost'), call.lost_events, `${what}: lossy`);
    insideAgrees(checks, row, call.inside, allocators, what);
  });
  const cut = await page
    .locator('[data-table=calls] td[data-column=call]')
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.textContent.length < 100 && cell.scrollWidth > cell.clientWidth)
        .map((cell) => cell.textContent),
    );
  checks.equal(cut.join('; '), '', 'calls that are cut, of fewer than 100 characters');
  const leftOut = await page.locator('main .note', { hasText: 'This file has' }).count();
  checks.equal(leftOut, held.length < graph.calls.length ? 1 : 0, 'the page states that calls are left out');
  await functionFilters(page, checks, graph, held);
  await callIsShown(page, checks, held);
}

// A click on a function must show only the calls of this function and their callees.
async function functionFilters(page, checks, graph, held) {
  const count = (name) => held.filter((call) => call.function === name).length;
  const name = graph.functions.map((of) => of.function).find((one) => count(one) > 1 && count(one) < held.length / 2);
  if (!checks.ok(name, 'there is a function to click on')) return;
  await page.fill('[data-focus="functions-filter"]', name);
  const row = page.locator('[data-table=functions] tbody tr[aria-rowindex]', {
    has: page.locator(`td[data-column=name][data-value="${name}"]`),
  });
  await row.first().click();
  await settle(page);
  const hash = await page.evaluate(() => location.hash);
  checks.ok(hash.startsWith('#calls?function='), `the address names the function: ${hash}`);
  checks.equal(await page.locator('.chip').count(), 1, 'a chip names the function');
  const rows = await rowsOf(page, 'calls');
  checks.equal(rows.filter((one) => one.call.startsWith(`${name}(`)).length, count(name), `calls of ${name}`);
  const around = await page.evaluate(
    () => document.querySelector('[data-table=calls] td[data-column=call] span').style.paddingLeft,
  );
  checks.equal(around, '0px', 'the first one of them stands at the left');
  await page.fill('[data-focus="functions-filter"]', '');
  await page.locator('footer').click();
  await page.keyboard.press('x');
  await settle(page);
  checks.equal(await page.locator('.chip').count(), 0, '"x" shows all calls again');
  checks.equal((await rowsOf(page, 'calls')).length, held.length, 'all calls are there again');
  await goTo(page, '#overview');
  await page.keyboard.press('c');
  await settle(page);
  checks.equal(await page.getAttribute('[aria-selected=true]', 'id'), 'tab-calls', 'key c');
}

// When a call is selected, all data of the call must be shown below, with a link to its function.
async function callIsShown(page, checks, held) {
  const at = Math.max(
    held.findIndex((call) => Object.keys(call.arguments ?? {}).length > 0),
    0,
  );
  const call = held[at];
  await page.click('[data-focus="calls-duration"]');
  const durations = (await rowsOf(page, 'calls')).map((row) => row.duration).filter((value) => value !== null);
  checks.ok(
    durations.every((value, i) => i === 0 || durations[i - 1] >= value),
    'the slowest calls stand first',
  );
  await page.click('[data-focus="calls-order"]');
  await page.click('[data-focus="calls-order"]');
  await page.fill('[data-focus="calls-filter"]', written(call).slice(0, 40));
  const row = page.locator('[data-table=calls] tbody tr', {
    has: page.locator(`td[data-column=order][data-value="${at + 1}"]`),
  });
  await row.click();
  await settle(page);
  checks.equal(
    await page.locator(`section[aria-label="Call of ${call.function}"]`).count(),
    1,
    'the details of a call are shown',
  );
  const shown = await page.locator('[data-argument]').evaluateAll((all) => all.map((one) => one.textContent));
  const values = Object.values(call.arguments ?? {});
  checks.equal(shown.length, values.length, 'its arguments');
  shown.forEach((text, i) => checks.ok(sameValue(text, values[i]), `its argument ${i + 1}: ${text}, ${values[i]}`));
  await page.click('[data-focus="calls-of"]');
  await settle(page);
  checks.equal(await page.locator('.chip').count(), 1, 'its function can be chosen');
  await page.fill('[data-focus="calls-filter"]', '');
  await goTo(page, '#overview');
}
