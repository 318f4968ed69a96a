// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kNoFilter, type Dimension, type Filter } from '../src/data/filter';
import { makeModel } from '../src/data/model';
import { windowClasses, windowRange, windowRows } from '../src/data/window';
import { smallTrace } from './small_trace';

const model = makeModel(smallTrace());
const during = (from: number, to: number): Filter => ({ ...kNoFilter, range: { from, to } });
const classes = (groups: number[], from: number, to: number) => windowClasses(model, groups, { from, to });
const rows = (dimension: Dimension, filter: Filter) =>
  windowRows(model, dimension, filter).map(({ key, allocator, leftLive, freedInside, freedOlder, throughout }) => [
    dimension === 'allocator' ? key : model.explore.strings[key],
    allocator,
    leftLive,
    freedInside,
    freedOlder,
    throughout,
  ]);

test('a range is extended to the steps in which lives are stored', () => {
  assert.deepEqual(windowRange(model, during(1, 3)), { from: 0, to: 4 });
  assert.deepEqual(windowRange(model, during(3, 5)), { from: 2, to: 5 });
});

test('memory is sorted by when it was allocated and when it ended', () => {
  // 300 bytes were allocated and ended in the first four buckets, and 50 bytes were left.
  assert.deepEqual(classes([0, 1, 3], 0, 4), { leftLive: 50, freedInside: 300, freedOlder: 0, throughout: 0 });
  // 250 bytes were live at the start; 200 of them ended in the third and fourth bucket.
  assert.deepEqual(classes([0, 1, 3], 2, 4), { leftLive: 0, freedInside: 100, freedOlder: 200, throughout: 50 });
  assert.deepEqual(classes([0, 1, 3], 4, 5), { leftLive: 0, freedInside: 0, freedOlder: 50, throughout: 0 });
});

test('each call site and each allocator has a row', () => {
  assert.deepEqual(rows('site', during(2, 4)), [
    ['s1', 0, 0, 100, 200, 0],
    ['s2', 0, 0, 0, 0, 50],
    ['s1', 3, 8192, 0, 0, 0],
  ]);
  assert.deepEqual(rows('allocator', during(2, 4)), [
    [0, 0, 0, 100, 200, 50],
    [3, 3, 8192, 0, 0, 0],
  ]);
});

test('rows without memory in the range are left out', () => {
  assert.deepEqual(rows('site', during(4, 5)), [
    ['s2', 0, 0, 0, 50, 0],
    ['s1', 3, 0, 0, 0, 8192],
  ]);
});

test('filters select groups', () => {
  assert.deepEqual(rows('allocator', { ...during(2, 4), site: 's2' }), [[0, 0, 0, 0, 0, 50]]);
  assert.deepEqual(rows('task', { ...during(2, 4), allocator: 'slab' }), [
    ['t1', 0, 0, 100, 200, 0],
    ['t2', 0, 0, 0, 0, 50],
  ]);
});
