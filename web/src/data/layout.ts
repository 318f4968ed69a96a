// SPDX-License-Identifier: GPL-2.0-or-later
// Where the frames of a flame graph lie. A level's frames are sorted by place, so that one is found by binary search.

export interface Layout {
  levels: number;
  begin: Uint32Array; // of a level in what follows; one more than there are levels
  node: Uint32Array;
  x0: Float64Array; // in units of the metric, from 0 to that of the root
  x1: Float64Array;
  place: Int32Array; // of each node in the three above; -1: it has no width
}

// `widths` are those of whole subtrees; parents have lower numbers than their children.
export function layOut(parent: Int32Array, widths: Float64Array): Layout {
  const nodes = parent.length;
  const firstChild = new Uint32Array(nodes + 1);
  for (let node = 1; node < nodes; ++node) if (widths[node] > 0) ++firstChild[parent[node] + 1];
  for (let node = 0; node < nodes; ++node) firstChild[node + 1] += firstChild[node];
  const children = new Uint32Array(firstChild[nodes]);
  const filled = firstChild.slice();
  for (let node = 1; node < nodes; ++node) if (widths[node] > 0) children[filled[parent[node]]++] = node;

  const placed = widths[0] > 0 ? firstChild[nodes] + 1 : 0;
  const node = new Uint32Array(placed);
  const x0 = new Float64Array(placed);
  const x1 = new Float64Array(placed);
  const place = new Int32Array(nodes).fill(-1);
  const begin = [0];
  let end = 0;
  if (placed > 0) {
    x1[0] = widths[0];
    place[0] = 0;
    end = 1;
  }
  // A level after the other: children follow in the order of their parents. What is off by a subtree without a width of
  // its own parent does not happen, since widths add up.
  for (let from = 0; from < end; ) {
    const to = end;
    begin.push(to);
    for (let at = from; at < to; ++at) {
      const own = children.subarray(firstChild[node[at]], firstChild[node[at] + 1]);
      if (own.length > 1) own.sort((a, b) => widths[b] - widths[a] || a - b);
      let x = x0[at];
      for (const child of own) {
        node[end] = child;
        x0[end] = x;
        x += widths[child];
        x1[end] = x;
        place[child] = end++;
      }
    }
    from = to;
  }
  return { levels: begin.length - 1, begin: Uint32Array.from(begin), node, x0, x1, place };
}

// The first place of a level that ends behind x.
export function firstBehind(layout: Layout, from: number, to: number, x: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (layout.x1[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The node that covers x in a level; -1: none.
export function nodeAt(layout: Layout, level: number, x: number): number {
  if (level < 0 || level >= layout.levels) return -1;
  const to = layout.begin[level + 1];
  const found = firstBehind(layout, layout.begin[level], to, x);
  return found < to && layout.x0[found] <= x ? layout.node[found] : -1;
}

// Which nodes have a name that matches, and how much lies below them, each byte counted once.
export function search(
  parent: Int32Array,
  widths: Float64Array,
  matches: (node: number) => boolean,
): { found: Uint8Array; sum: number; count: number } {
  const found = new Uint8Array(parent.length);
  const inside = new Uint8Array(parent.length);
  let sum = 0;
  let count = 0;
  for (let node = 1; node < parent.length; ++node) {
    inside[node] = inside[parent[node]];
    if (widths[node] <= 0 || !matches(node)) continue;
    found[node] = 1;
    ++count;
    if (!inside[node]) sum += widths[node];
    inside[node] = 1;
  }
  return { found, sum, count };
}
