// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kNoFilter } from '../src/data/filter';
import {
  coarseRange,
  freeMatrix,
  lifetimeGrid,
  lifetimesLeftOut,
  sizeMap,
  sizePairs,
  sizesLeftOut,
  sizeStep,
  stepSize,
} from '../src/data/grids';
import { makeModel } from '../src/data/model';
import { smallTrace } from './small_trace';

const model = makeModel(smallTrace());

test('a range includes all coarse buckets that overlap it', () => {
  assert.deepEqual(coarseRange(model, kNoFilter), { from: 0, to: 3 });
  assert.deepEqual(coarseRange(model, { ...kNoFilter, range: { from: 1, to: 3 } }), { from: 0, to: 2 });
});

test('sizes are pairs of requested and allocated bytes', () => {
  const pairs = sizePairs(model, kNoFilter);
  assert.deepEqual(
    pairs.map(({ requested, allocations, wasted }) => [requested, allocations, wasted]),
    [
      [90, 3, 30],
      [8, 5, 10],
    ],
  );
  assert.equal(sizePairs(model, { ...kNoFilter, range: { from: 0, to: 2 } })[0].allocations, 2);
  assert.equal(sizePairs(model, { ...kNoFilter, site: 's2' }).length, 1);
  assert.equal(sizePairs(model, { ...kNoFilter, allocator: 'pages' }).length, 0);
});

test('cells of the size map are half an octave wide', () => {
  const map = sizeMap(sizePairs(model, kNoFilter));
  assert.ok(map);
  // columns are from 8 to 90, rows from 10 to 100
  assert.deepEqual([map.firstColumn, map.columns, map.firstRow, map.rows], [6, 7, 6, 8]);
  assert.equal(map.cells[0][0].requested, 8);
  // Empty columns show the sizes that are possible: 12 to 15 in the half octave from 11.3 to 16.
  assert.deepEqual(map.columnSizes.slice(0, 2), [
    [8, 8],
    [12, 15],
  ]);
  assert.deepEqual(map.rowSizes.at(-1), [100, 100]);
  assert.equal(map.cells[7 * 7 + 6][0].requested, 90);
  assert.equal(map.cells.flat().length, 2);
  for (let size = 1; size < 5000; ++size) {
    assert.ok(stepSize(sizeStep(size)) <= size);
    assert.ok(stepSize(sizeStep(size) + 1) > size);
  }
  assert.equal(sizeMap([]), null);
});

test('lifetimes are a grid of octaves and time', () => {
  const grid = lifetimeGrid(model, kNoFilter);
  assert.ok(grid);
  assert.deepEqual([grid.rows, grid.columns, grid.firstOctave], [3, 3, 7]);
  assert.deepEqual([...grid.frees], [0, 3, 0, 0, 0, 1, 0, 0, 5]);
  assert.equal(lifetimeGrid(model, { ...kNoFilter, site: 'nowhere' }), null);
});

test('merged sizes have no call site', () => {
  assert.deepEqual(sizesLeftOut(model, kNoFilter), { allocations: 4, requested: 40, allocated: 64 });
  assert.equal(sizesLeftOut(model, { ...kNoFilter, range: { from: 0, to: 2 } }).allocations, 0);
  // merged sizes may belong to any call site, so a filter by call site includes all
  assert.equal(sizesLeftOut(model, { ...kNoFilter, site: 's1' }).allocations, 4);
  assert.equal(sizesLeftOut(model, { ...kNoFilter, allocator: 'pages' }).allocations, 0);
});

test('with many CPUs, only CPUs with frees are rows, and others are merged', () => {
  const trace = smallTrace();
  trace.report.trace.cpus = 60000;
  Object.assign(trace.explore.cpus, { from: [40000, 7, -1], to: [40000, -1, -2] });
  const matrix = freeMatrix(makeModel(trace), kNoFilter, false);
  assert.deepEqual(matrix.places, [7, 40000, -1]);
  assert.deepEqual([...matrix.frees], [0, 0, 5, 0, 3, 0, 0, 0, 1]);
  assert.deepEqual([...matrix.own[0]], [0, 3, 0]); // -1 and -2 are different CPUs, so their frees do not count here
});

test('rare lifetimes are counted separately if a call site is selected', () => {
  const trace = smallTrace();
  trace.explore.strings.push('(others)');
  trace.explore.lifetimes.site = [4, trace.explore.strings.length - 1, 4];
  const others = makeModel(trace);
  assert.equal(lifetimesLeftOut(others, kNoFilter), 0); // without a filter, they are included in the grid
  assert.equal(lifetimesLeftOut(others, { ...kNoFilter, site: 's1' }), 5);
  assert.equal(lifetimesLeftOut(others, { ...kNoFilter, site: 's1', allocator: 'pages' }), 0);
  assert.equal(lifetimesLeftOut(model, { ...kNoFilter, site: 's1' }), 0);
});

test('merged CPUs are not one node', () => {
  const trace = smallTrace();
  // Frees by CPUs that are merged as "others": 3 were allocated on the same CPU, 5 on another merged CPU, 1 on node 0.
  Object.assign(trace.explore.cpus, { from: [-1, -1, 0], to: [-1, -2, -1] });
  const matrix = freeMatrix(makeModel(trace), kNoFilter, true);
  assert.deepEqual(matrix.places, [0, 1, -1]);
  assert.deepEqual([...matrix.frees], [0, 0, 1, 0, 0, 0, 0, 0, 8]);
  assert.deepEqual([...matrix.own[0]], [0, 0, 3]);
  assert.deepEqual([...matrix.own[1]], [0, 0, 300]);
});

test('CPUs of unknown node count as the same node only if they are the same CPU', () => {
  const trace = smallTrace();
  trace.explore.cpu_nodes = [0];
  Object.assign(trace.explore.cpus, { from: [1, 1, 0], to: [1, 2, 0] });
  const matrix = freeMatrix(makeModel(trace), kNoFilter, true);
  assert.deepEqual(matrix.places, [0, -1]);
  assert.deepEqual([...matrix.own[0]], [1, 3]);
});

test('frees are a matrix of CPUs, or of their nodes', () => {
  assert.deepEqual([...freeMatrix(model, kNoFilter, false).frees], [3, 5, 0, 0, 0, 1, 0, 0, 0]);
  assert.deepEqual([...freeMatrix(model, kNoFilter, true).frees], [8, 1, 0, 0]);
  assert.deepEqual([...freeMatrix(model, { ...kNoFilter, allocator: 'pages' }, true).bytes], [0, 4096, 0, 0]);
});
