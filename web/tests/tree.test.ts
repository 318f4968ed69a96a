// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinedSums, joinTrees } from '../src/data/compare';
import { layOut, nodeAt, search } from '../src/data/layout';
import { makeModel } from '../src/data/model';
import { addUp, below, buildTree, functionSums } from '../src/data/tree';
import { smallExplore, smallTrace } from './small_trace';

const tree = buildTree(smallExplore());
const named = (node: number): string => (node === 0 ? '' : tree.names[tree.name[node]]);

test('stacks with common callers share nodes', () => {
  assert.deepEqual(
    Array.from({ length: tree.nodes }, (_, node) => named(node)),
    ['', 'main', 'a', 'alloc', 'b', 'alloc', 'a'],
  );
  assert.deepEqual([...tree.leafOfStack], [3, 5, 2, 6]);
  for (let node = 1; node < tree.nodes; ++node) assert.ok(tree.parent[node] < node);
});

test('sums of subtrees and of recursive functions are correct', () => {
  const own = Float64Array.from([0, 0, 2, 10, 0, 5, 1]);
  const totals = addUp(tree.parent, own);
  assert.deepEqual([...totals], [18, 18, 13, 10, 5, 5, 1]);
  assert.deepEqual([...below(tree.parent, 2)], [0, 0, 1, 1, 0, 0, 1]);
  const sums = functionSums(tree.parent, tree.name, own, totals, 0);
  assert.equal(sums.find((sum) => tree.names[sum.name] === 'alloc')?.total, 15);
  const recursive = Int32Array.from([-1, 0, 1, 2]);
  const names = Int32Array.from([-1, 7, 8, 7]);
  const weights = Float64Array.from([0, 1, 1, 1]);
  const found = functionSums(recursive, names, weights, addUp(recursive, weights), 0);
  assert.deepEqual(found, [
    { name: 7, own: 2, total: 3 },
    { name: 8, own: 1, total: 2 },
  ]);
});

test('frames are inside their callers, the widest first, and are found by position', () => {
  const totals = addUp(tree.parent, Float64Array.from([0, 0, 2, 10, 0, 5, 0]));
  const layout = layOut(tree.parent, totals);
  assert.equal(layout.levels, 4);
  assert.equal(layout.place[6], -1); // the node has no width
  for (let node = 1; node < tree.nodes; ++node) {
    const at = layout.place[node];
    if (at < 0) continue;
    const above = layout.place[tree.parent[node]];
    assert.ok(layout.x0[at] >= layout.x0[above] && layout.x1[at] <= layout.x1[above]);
    assert.equal(layout.x1[at] - layout.x0[at], totals[node]);
    assert.equal(nodeAt(layout, tree.depth[node], (layout.x0[at] + layout.x1[at]) / 2), node);
  }
  assert.deepEqual(
    [2, 4, 5].map((node) => layout.x0[layout.place[node]]),
    [0, 12, 12],
  );
  assert.equal(nodeAt(layout, 3, 11), -1);
  assert.equal(nodeAt(layout, 9, 1), -1);
  assert.equal(layOut(tree.parent, new Float64Array(tree.nodes)).levels, 0);
});

test('a search counts nested frames once', () => {
  const totals = addUp(tree.parent, Float64Array.from([0, 0, 2, 10, 0, 5, 1]));
  const { sum, count } = search(tree.parent, totals, (node) => named(node).startsWith('a'));
  assert.equal(sum, 18);
  assert.equal(count, 4);
});

test('100,000 frames are laid out without overlap', () => {
  const nodes = 100_000;
  const parent = new Int32Array(nodes).map((_, node) => (node === 0 ? -1 : Math.floor((node - 1) / 3)));
  const layout = layOut(parent, addUp(parent, new Float64Array(nodes).fill(1)));
  for (let level = 0; level < layout.levels; ++level)
    for (let at = layout.begin[level] + 1; at < layout.begin[level + 1]; ++at)
      assert.ok(layout.x0[at] >= layout.x1[at - 1]);
});

test('trees of two traces are joined by function', () => {
  const models = [makeModel(smallTrace()), makeModel(smallTrace())];
  const joined = joinTrees(models);
  assert.equal(joined.nodeOf[0][3], joined.nodeOf[1][3]);
  const sums = joinedSums(joined, 0, models[0], Float64Array.from([10, 5, 2, 1]), 2);
  assert.equal(sums[0], 9);
  assert.equal(sums[joined.nodeOf[0][3]], 5);
});
