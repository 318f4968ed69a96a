// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kNoFilter } from '../src/data/filter';
import { makeModel, rangeOf, selectedGroups } from '../src/data/model';
import { orderRows, tableRows } from '../src/data/rows';
import { fold, highestBucket, listOf, liveSeries, metricByGroup, sumGroups } from '../src/data/sums';
import { smallTrace } from './small_trace';

const model = makeModel(smallTrace());
const all = { from: 0, to: 5 };

test('changes are differences', () => {
  assert.deepEqual([...model.changes.begin], [0, 3, 5, 6, 6]);
  assert.deepEqual([...model.changes.bucket], [0, 2, 3, 1, 4, 2]);
});

test('sums of a range include the memory live at its end', () => {
  const whole = sumGroups(model, [0, 1], all);
  assert.equal(whole.allocations, 8);
  assert.equal(whole.allocated, 350);
  assert.equal(whole.wasted, 40);
  assert.equal(whole.frees, 8);
  assert.equal(whole.live, 0);
  assert.equal(whole.peak, 350);
  const middle = sumGroups(model, [0], { from: 1, to: 3 });
  assert.equal(middle.allocations, 1);
  assert.equal(middle.live, 300); // allocations before the range are still live
  assert.equal(middle.liveAllocations, 3);
  assert.equal(middle.peak, 300);
  assert.equal(sumGroups(model, [0], { from: 3, to: 5 }).peak, 0);
  assert.equal(sumGroups(model, [1], { from: 2, to: 4 }).peak, 50); // without changes, the memory stays live
});

test('replaced allocations are neither live nor freed', () => {
  const trace = smallTrace();
  Object.assign(trace.explore.changes, {
    frees: [0, 0, 2, 0, 5, 0],
    replacements: [0, 0, 1, 0, 0, 0],
    replaced: [0, 0, 100, 0, 0, 0],
  });
  const sums = sumGroups(makeModel(trace), [0], all);
  assert.equal(sums.liveAllocations, 0);
  assert.equal(sums.live, 0);
  assert.equal(sums.frees, 2);
  assert.equal(sums.freed, 200);
});

test('sums of parts of the time add up to the total', () => {
  for (let cut = 1; cut < 5; ++cut) {
    const [early, late, whole] = [{ from: 0, to: cut }, { from: cut, to: 5 }, all].map((range) =>
      sumGroups(model, [0, 1, 2, 3], range),
    );
    for (const key of ['allocations', 'requested', 'allocated', 'frees', 'freed', 'wasted'] as const)
      assert.equal(early[key] + late[key], whole[key]);
    assert.equal(late.live, whole.live);
    assert.equal(Math.max(early.peak, late.peak), whole.peak);
  }
});

test('filters select groups', () => {
  const groups = (filter: Partial<typeof kNoFilter>): number[] =>
    listOf(selectedGroups(model, { ...kNoFilter, ...filter }));
  assert.deepEqual(groups({}), [0, 1, 2, 3]);
  assert.deepEqual(groups({ site: 's1' }), [0, 2]);
  assert.deepEqual(groups({ site: 's1', allocator: 'pages' }), [2]);
  assert.deepEqual(groups({ task: 'nobody' }), []);
  assert.deepEqual(rangeOf(model, { ...kNoFilter, range: { from: 3, to: 999 } }), { from: 3, to: 5 });
  assert.deepEqual(rangeOf(model, { ...kNoFilter, range: { from: 99, to: 999 } }), { from: 4, to: 5 });
});

test('groups with the same key are combined, separately for each allocator', () => {
  const rows = fold(model, 'site', kNoFilter);
  assert.deepEqual(
    rows.map((row) => [model.explore.strings[row.key], row.allocator, row.allocated]),
    [
      ['s1', 0, 300],
      ['s2', 0, 50],
      ['s1', 3, 8192],
    ],
  );
  assert.deepEqual(
    fold(model, 'order', { ...kNoFilter, allocator: 'pages' }).map((row) => row.key),
    [1],
  );
});

test('peak values of groups add up at the time of the highest sum', () => {
  const selected = selectedGroups(model, { ...kNoFilter, allocator: 'slab' });
  const series = liveSeries(model, listOf(selected));
  assert.deepEqual([...series], [200, 250, 350, 50, 0]);
  const highest = highestBucket(series, all);
  assert.equal(highest, 2);
  assert.deepEqual([...metricByGroup(model, selected, 'peak', all, highest)], [300, 50, 0, 0]);
  assert.deepEqual([...metricByGroup(model, selected, 'wasted', all, highest)], [30, 10, 0, 0]);
  assert.deepEqual([...metricByGroup(model, selected, 'hits', { from: 1, to: 3 }, highest)], [1, 5, 0, 0]);
  assert.deepEqual([...metricByGroup(model, selected, 'live', { from: 0, to: 4 }, highest)], [0, 50, 0, 0]);
});

test('subsystems and directories have the sums of their call sites', () => {
  const sums = (dimension: 'site' | 'subsystem' | 'directory', names: Map<string, string>) => {
    const all = new Map<string, number[]>();
    for (const row of tableRows(model, dimension, { ...kNoFilter, range: { from: 0, to: 5 } }).rows) {
      const key = `${row.allocator} ${names.get(row.name) ?? row.name}`;
      const known = all.get(key) ?? [0, 0, 0];
      all.set(
        key,
        [row.hits, row.allocated ?? 0, row.liveBytes ?? 0].map((value, at) => value + known[at]),
      );
    }
    return all;
  };
  // In this trace, directories have the names of their call sites.
  assert.deepEqual(sums('directory', new Map()), sums('site', new Map()));
  const subsystems = new Map([
    ['s1', 'b'],
    ['s2', 'a'],
    ['s3', 'b'],
  ]);
  const slab = (all: Map<string, number[]>) => [...all].filter(([key]) => key.startsWith('0 ')).sort();
  assert.deepEqual(slab(sums('subsystem', new Map())), slab(sums('site', subsystems)));
  assert.deepEqual([...selectedGroups(model, { ...kNoFilter, subsystem: 'b' })], [1, 0, 0, 1]);
});

test('modules have the sums of their groups', () => {
  const rows = tableRows(model, 'module', kNoFilter);
  assert.equal(rows.exact, false); // the page has no report by module
  assert.deepEqual(
    rows.rows.filter((row) => row.allocator === 0).map((row) => [row.name, row.hits, row.allocated]),
    [['b', 8, 350]],
  );
  assert.deepEqual([...selectedGroups(model, { ...kNoFilter, module: 'b' })], [1, 1, 0, 1]);
  assert.deepEqual(
    tableRows(model, 'site', { ...kNoFilter, module: 'a' }).rows.map((row) => row.allocator),
    [3],
  );
});

test('tables use the report’s rows if it has them', () => {
  const exact = tableRows(model, 'site', { ...kNoFilter, allocator: 'slab' });
  assert.equal(exact.exact, true);
  assert.equal(exact.missing, 6);
  assert.deepEqual(
    exact.rows.map((row) => [row.name, row.peak, row.peakIsExact, row.groups]),
    [['s1', 310, true, [0]]],
  );
  const both = tableRows(model, 'site', kNoFilter); // page call sites are only in the sums
  assert.deepEqual(
    both.rows.map((row) => [row.allocator, row.peakIsExact]),
    [
      [0, true],
      [3, false],
    ],
  );
  const cut = tableRows(model, 'site', { ...kNoFilter, range: { from: 0, to: 2 }, allocator: 'slab' });
  assert.equal(cut.exact, false);
  assert.deepEqual(
    cut.rows.map((row) => [row.name, row.allocated, row.liveBytes]),
    [
      ['s1', 200, 200],
      ['s2', 50, 50],
    ],
  );
  assert.equal(orderRows(model, kNoFilter).rows[0].frees, 9);
  assert.equal(orderRows(model, { ...kNoFilter, range: { from: 0, to: 3 } }).rows[0].allocated, 8192);
});
