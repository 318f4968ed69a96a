// SPDX-License-Identifier: GPL-2.0-or-later
// Combines all stacks to one tree, with the outermost functions at its root. Parents have lower numbers than their
// children.
import type { Explore } from './document';

export interface StackTree {
  nodes: number;
  parent: Int32Array; // -1 for the root
  depth: Uint16Array;
  name: Int32Array; // -1 for the root
  names: string[];
  leafOfStack: Uint32Array;
}

export function buildTree(explore: Explore): StackTree {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    let number = numbers.get(name);
    if (number === undefined) {
      number = names.length;
      numbers.set(name, number);
      names.push(name);
    }
    return number;
  };
  const nameOf = explore.frames.map((text) => numberOf(explore.strings[text]));

  const parent = [-1];
  const depth = [0];
  const name = [-1];
  const leafOfStack = new Uint32Array(explore.stacks.length);
  const children = new Map<number, number>();
  explore.stacks.forEach((stack, number) => {
    let node = 0;
    for (const frame of stack) {
      const called = nameOf[frame];
      const key = node * (names.length + 1) + called;
      let child = children.get(key);
      if (child === undefined) {
        child = parent.length;
        children.set(key, child);
        parent.push(node);
        depth.push(depth[node] + 1);
        name.push(called);
      }
      node = child;
    }
    leafOfStack[number] = node;
  });
  return {
    nodes: parent.length,
    parent: Int32Array.from(parent),
    depth: Uint16Array.from(depth),
    name: Int32Array.from(name),
    names,
    leafOfStack,
  };
}

// Adds the values of leaves to all their ancestors.
export function addUp(parent: Int32Array, values: Float64Array): Float64Array {
  const sums = Float64Array.from(values);
  for (let node = parent.length - 1; node > 0; --node) sums[parent[node]] += sums[node];
  return sums;
}

// Marks the nodes in the subtree of `root`, including `root`.
export function below(parent: Int32Array, root: number): Uint8Array {
  const inside = new Uint8Array(parent.length);
  inside[root] = 1;
  for (let node = root + 1; node < parent.length; ++node) inside[node] = inside[parent[node]];
  return inside;
}

export interface FunctionSums {
  name: number;
  own: number;
  total: number;
}

// Returns sums by function in a subtree. For recursive calls, memory is counted once.
export function functionSums(
  parent: Int32Array,
  name: Int32Array,
  own: Float64Array,
  totals: Float64Array,
  root: number,
): FunctionSums[] {
  const inside = below(parent, root);
  const sums = new Map<number, FunctionSums>();
  for (let node = Math.max(1, root); node < parent.length; ++node) {
    if (!inside[node] || totals[node] <= 0) continue;
    let sum = sums.get(name[node]);
    if (!sum) sums.set(name[node], (sum = { name: name[node], own: 0, total: 0 }));
    sum.own += own[node];
    let above = node === root ? 0 : parent[node];
    while (above > 0 && inside[above] && name[above] !== name[node]) above = parent[above];
    if (above <= 0 || !inside[above]) sum.total += totals[node];
  }
  return [...sums.values()].sort((a, b) => b.total - a.total);
}
