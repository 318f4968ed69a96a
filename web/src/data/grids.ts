// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of heat maps: sizes, lifetimes, and which CPU frees memory that another one allocated.
import { allocatorNumber } from './allocators';
import type { Filter, Range } from './filter';
import { keyNumber, rangeOf, type Model } from './model';

export interface SizePair {
  requested: number;
  allocated: number;
  allocations: number;
  wasted: number;
  sites: Map<number, number>; // wasted bytes for each call site
}

export interface Grid {
  frees: Float64Array; // number of frees, by row, then by column
  bytes: Float64Array;
  columns: number;
  rows: number;
}

// Returns the coarse buckets that overlap the selected range. A coarse bucket has `width` buckets.
export function coarseRange(model: Model, filter: Filter, width = Math.max(1, model.explore.coarse)): Range {
  const range = rangeOf(model, filter);
  return { from: Math.floor(range.from / width), to: Math.ceil(range.to / width) };
}

export function coarseBuckets(model: Model): number {
  return Math.max(1, Math.ceil(model.buckets / Math.max(1, model.explore.coarse)));
}

function wantedSite(model: Model, filter: Filter): number | null {
  return filter.site === null ? null : keyNumber(model, 'site', filter.site);
}

export function sizePairs(model: Model, filter: Filter): SizePair[] {
  const { site, requested, allocated, bucket, allocations } = model.explore.sizes;
  const pairs = new Map<string, SizePair>();
  if (filter.allocator !== null && filter.allocator !== 'slab') return [];
  const range = coarseRange(model, filter);
  const wanted = wantedSite(model, filter);
  for (let at = 0; at < site.length; ++at) {
    if (bucket[at] < range.from || bucket[at] >= range.to) continue;
    if (wanted !== null && site[at] !== wanted) continue;
    const key = `${requested[at]} ${allocated[at]}`;
    let pair = pairs.get(key);
    if (!pair) {
      pair = { requested: requested[at], allocated: allocated[at], allocations: 0, wasted: 0, sites: new Map() };
      pairs.set(key, pair);
    }
    const wasted = Math.max(0, allocated[at] - requested[at]) * allocations[at];
    pair.allocations += allocations[at];
    pair.wasted += wasted;
    pair.sites.set(site[at], (pair.sites.get(site[at]) ?? 0) + wasted);
  }
  return [...pairs.values()].sort((a, b) => b.wasted - a.wasted || b.allocations - a.allocations);
}

// Returns the sums of sizes that were merged. Their call sites are unknown, so a filter by call site is ignored.
export function sizesLeftOut(
  model: Model,
  filter: Filter,
): { allocations: number; requested: number; allocated: number } {
  const sums = { allocations: 0, requested: 0, allocated: 0 };
  if (filter.allocator !== null && filter.allocator !== 'slab') return sums;
  const { bucket, allocations, requested, allocated } = model.explore.sizes_left_out;
  const range = coarseRange(model, filter);
  for (let at = 0; at < bucket.length; ++at) {
    if (bucket[at] < range.from || bucket[at] >= range.to) continue;
    sums.allocations += allocations[at];
    sums.requested += requested[at];
    sums.allocated += allocated[at];
  }
  return sums;
}

// Pairs of sizes, in cells of half an octave. Rows are allocated sizes, columns are requested sizes.
export interface SizeMap {
  rows: number;
  columns: number;
  firstRow: number;
  firstColumn: number;
  cells: SizePair[][]; // pairs of sizes, by row, then by column
  // smallest and largest size in the row; for an empty row, the smallest and largest possible size
  rowSizes: [number, number][];
  columnSizes: [number, number][];
}

const kStepsOfOctave = 2;

export function sizeStep(bytes: number): number {
  return Math.floor(kStepsOfOctave * Math.log2(bytes));
}

// Returns the smallest size of a step.
export function stepSize(step: number): number {
  return Math.ceil(2 ** (step / kStepsOfOctave));
}

export function sizeMap(pairs: SizePair[]): SizeMap | null {
  const known = pairs.filter((pair) => pair.requested > 0 && pair.allocated > 0);
  if (known.length === 0) return null;
  const bounds = (of: (pair: SizePair) => number): [number, number] => {
    let [low, high] = [Infinity, -Infinity];
    for (const pair of known) [low, high] = [Math.min(low, sizeStep(of(pair))), Math.max(high, sizeStep(of(pair)))];
    return [low, high - low + 1];
  };
  const [firstRow, rows] = bounds((pair) => pair.allocated);
  const [firstColumn, columns] = bounds((pair) => pair.requested);
  const sizesOf = (first: number, steps: number, of: (pair: SizePair) => number): [number, number][] => {
    const sizes: ([number, number] | undefined)[] = Array.from({ length: steps });
    for (const size of known.map(of)) {
      const [least, most] = sizes[sizeStep(size) - first] ?? [size, size];
      sizes[sizeStep(size) - first] = [Math.min(least, size), Math.max(most, size)];
    }
    return sizes.map((found, step) => found ?? [stepSize(first + step), stepSize(first + step + 1) - 1]);
  };
  const cells: SizePair[][] = Array.from({ length: rows * columns }, () => []);
  for (const pair of known)
    cells[(sizeStep(pair.allocated) - firstRow) * columns + sizeStep(pair.requested) - firstColumn].push(pair);
  return {
    rows,
    columns,
    firstRow,
    firstColumn,
    cells,
    rowSizes: sizesOf(firstRow, rows, (pair) => pair.allocated),
    columnSizes: sizesOf(firstColumn, columns, (pair) => pair.requested),
  };
}

export interface LifetimeGrid extends Grid {
  firstOctave: number;
  firstBucket: number;
}

// Rows are octaves of the lifetime. Columns are coarse buckets of the time of the free.
export function lifetimeGrid(model: Model, filter: Filter): LifetimeGrid | null {
  const { allocator, octave, bucket, site, frees, bytes } = model.explore.lifetimes;
  const range = coarseRange(model, filter);
  const wanted = wantedSite(model, filter);
  const of = filter.allocator === null ? null : allocatorNumber(filter.allocator);
  const picked: number[] = [];
  let low = Infinity;
  let high = -Infinity;
  for (let at = 0; at < octave.length; ++at) {
    if (bucket[at] < range.from || bucket[at] >= range.to) continue;
    if ((wanted !== null && site[at] !== wanted) || (of !== null && allocator[at] !== of)) continue;
    picked.push(at);
    low = Math.min(low, octave[at]);
    high = Math.max(high, octave[at]);
  }
  if (picked.length === 0) return null;
  const columns = range.to - range.from;
  const rows = high - low + 1;
  const grid = { frees: new Float64Array(rows * columns), bytes: new Float64Array(rows * columns) };
  for (const at of picked) {
    const cell = (octave[at] - low) * columns + bucket[at] - range.from;
    grid.frees[cell] += frees[at];
    grid.bytes[cell] += bytes[at];
  }
  return { ...grid, columns, rows, firstOctave: low, firstBucket: range.from };
}

// Returns the number of frees whose call site is unknown, because their lifetimes are rare. They may belong to the
// filter's call site. Returns 0 if no call site is selected.
export function lifetimesLeftOut(model: Model, filter: Filter): number {
  if (filter.site === null || filter.site === kOthers) return 0;
  const grid = lifetimeGrid(model, { ...filter, site: kOthers });
  return grid ? grid.frees.reduce((sum, frees) => sum + frees, 0) : 0;
}

const kOthers = '(others)';
const kOtherCpus = -1;
const kMostShownIdle = 64; // with more CPUs than this, CPUs without frees are not shown

export interface Matrix extends Grid {
  places: number[]; // CPU or node of each row and column; -1: merged others
  own: Float64Array[]; // for each row: frees and freed bytes for which the allocating CPU also freed
}

// Rows are the CPUs that allocated, columns the CPUs that freed. With `byNode`, they are nodes if the trace has them.
export function freeMatrix(model: Model, filter: Filter, byNode: boolean): Matrix {
  const { allocator, from, to, bucket, frees, bytes } = model.explore.cpus;
  const nodes = byNode ? model.explore.cpu_nodes : null;
  const range = coarseRange(model, filter);
  const of = filter.allocator === null ? null : allocatorNumber(filter.allocator);
  const place = (cpu: number): number => (cpu < 0 ? kOtherCpus : nodes ? (nodes[cpu] ?? kOtherCpus) : cpu);
  const found = new Set<number>();
  const all = nodes ? nodes.reduce((most, node) => Math.max(most, node), -1) + 1 : model.trace.report.trace.cpus;
  if (all <= kMostShownIdle) for (let at = 0; at < all; ++at) found.add(at);
  for (let at = 0; at < from.length; ++at) found.add(place(from[at])).add(place(to[at]));
  const places = [...found].sort((a, b) => (a < 0 ? Infinity : a) - (b < 0 ? Infinity : b));
  const size = places.length;
  const index = new Map(places.map((which, at) => [which, at]));
  const grid = { frees: new Float64Array(size * size), bytes: new Float64Array(size * size) };
  const own = [new Float64Array(size), new Float64Array(size)];
  for (let at = 0; at < from.length; ++at) {
    if (bucket[at] < range.from || bucket[at] >= range.to) continue;
    if (of !== null && allocator[at] !== of) continue;
    const row = index.get(place(from[at])) ?? 0;
    const column = index.get(place(to[at])) ?? 0;
    grid.frees[row * size + column] += frees[at];
    grid.bytes[row * size + column] += bytes[at];
    // Frees by a different merged CPU do not count as frees by the allocating CPU.
    if (row !== column || (places[row] < 0 && from[at] !== to[at])) continue;
    own[0][row] += frees[at];
    own[1][row] += bytes[at];
  }
  return { ...grid, columns: size, rows: size, places, own };
}
