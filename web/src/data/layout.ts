// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the positions of frames in a flame graph. Frames of a level are sorted by position, so that binary search
// finds a frame.

export interface Layout {
  levels: number;
  // index of each level's first frame in node, x0 and x1; has one element more than there are levels
  begin: Uint32Array;
  node: Uint32Array;
  x0: Float64Array; // in units of the metric, from 0 to the value of the root
  x1: Float64Array;
  place: Int32Array; // index of each node in node, x0 and x1; -1 if the node has no width
}

// `widths` are the values of whole subtrees. Parents have lower numbers than their children.
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
  // Lays out one level after another; children follow the order of their parents. A subtree with a width always has a
  // parent with a width, because widths are sums.
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

// Returns the first position in a level whose frame ends after x.
export function firstAfter(layout: Layout, from: number, to: number, x: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (layout.x1[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Returns the node that covers x in a level; -1 if there is none.
export function nodeAt(layout: Layout, level: number, x: number): number {
  if (level < 0 || level >= layout.levels) return -1;
  const to = layout.begin[level + 1];
  const found = firstAfter(layout, layout.begin[level], to, x);
  return found < to && layout.x0[found] <= x ? layout.node[found] : -1;
}

// Returns the nodes with matching names, and the size of their subtrees. Each byte is counted once.
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
