// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the stacks of two traces to one tree, by function names that are the same in any kernel.
import type { Model } from './model';
import { addUp } from './tree';

export interface JoinedTree {
  names: string[];
  parent: Int32Array;
  depth: Uint16Array;
  name: Int32Array; // -1 for the root
  nodeOf: Uint32Array[]; // nodeOf[trace][node of its tree]: node of the joined tree
}

export function joinTrees(models: Model[]): JoinedTree {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const parent = [-1];
  const depth = [0];
  const name = [-1];
  const children = new Map<string, number>();
  const nodeOf = models.map((model) => {
    const { tree } = model;
    const joinedName = tree.names.map((called) => {
      let number = numbers.get(called);
      if (number === undefined) {
        number = names.length;
        numbers.set(called, number);
        names.push(called);
      }
      return number;
    });
    const joined = new Uint32Array(tree.nodes);
    for (let node = 1; node < tree.nodes; ++node) {
      const above = joined[tree.parent[node]];
      const called = joinedName[tree.name[node]];
      const key = `${above}:${called}`;
      let child = children.get(key);
      if (child === undefined) {
        child = parent.length;
        children.set(key, child);
        parent.push(above);
        depth.push(depth[above] + 1);
        name.push(called);
      }
      joined[node] = child;
    }
    return joined;
  });
  return {
    names,
    parent: Int32Array.from(parent),
    depth: Uint16Array.from(depth),
    name: Int32Array.from(name),
    nodeOf,
  };
}

// Returns a metric of one trace for each node of the joined tree: the sum over the node's subtree, divided by
// `divisor`.
export function joinedSums(
  joined: JoinedTree,
  side: number,
  model: Model,
  byGroup: Float64Array,
  divisor: number,
): Float64Array {
  const own = new Float64Array(joined.parent.length);
  const stacks = model.explore.groups.stack;
  for (let group = 0; group < model.groups; ++group)
    own[joined.nodeOf[side][model.tree.leafOfStack[stacks[group]]]] += byGroup[group] / divisor;
  return addUp(joined.parent, own);
}
