// SPDX-License-Identifier: GPL-2.0-or-later
// Sums over a time range, for single groups and for groups that share a key.
import type { Dimension, Filter, Range } from './filter';
import { rangeOf, selectedGroups, type Model } from './model';

export interface Sums {
  allocations: number;
  requested: number;
  allocated: number;
  wasted: number; // slab only: for the other allocators, the difference to the request is not waste
  frees: number;
  freed: number; // freed bytes
  liveAllocations: number; // at the end of the range
  live: number;
  peak: number; // highest value of live bytes at the ends of buckets
}

// The groups that have the same key and allocator.
export interface KeyGroups {
  key: number; // number of a string or of an allocator, or the order
  allocator: number;
  groups: number[]; // indices of the model's groups
}

export type Folded = KeyGroups & Sums;

const kSlab = 0;

export function noSums(): Sums {
  return {
    allocations: 0,
    requested: 0,
    allocated: 0,
    wasted: 0,
    frees: 0,
    freed: 0,
    liveAllocations: 0,
    live: 0,
    peak: 0,
  };
}

// Returns the live bytes of these groups at the end of each bucket, for the whole trace.
export function liveSeries(model: Model, groups: Iterable<number>): Float64Array {
  const series = new Float64Array(model.buckets);
  const { begin, bucket, allocated, freed } = model.changes;
  for (const group of groups)
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry)
      series[bucket[entry]] += allocated[entry] - freed[entry];
  for (let at = 1; at < series.length; ++at) series[at] += series[at - 1];
  return series;
}

// Returns the bytes that these groups allocated in each bucket.
export function allocatedSeries(model: Model, groups: Iterable<number>): Float64Array {
  const series = new Float64Array(model.buckets);
  const { begin, bucket, allocated } = model.changes;
  for (const group of groups)
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry) series[bucket[entry]] += allocated[entry];
  return series;
}

export function sumGroups(model: Model, groups: number[], range: Range): Sums {
  const sums = noSums();
  const { begin, bucket, allocations, requested, allocated, frees, freed, replacements, replaced } = model.changes;
  const series = new Float64Array(range.to); // changes of live bytes
  for (const group of groups) {
    const slab = model.keys.allocator[group] === kSlab;
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry) {
      const at = bucket[entry];
      if (at >= range.to) break;
      series[at] += allocated[entry] - freed[entry];
      sums.liveAllocations += allocations[entry] - frees[entry] - replacements[entry];
      if (at < range.from) continue;
      sums.allocations += allocations[entry];
      sums.requested += requested[entry];
      sums.allocated += allocated[entry];
      if (slab) sums.wasted += allocated[entry] - requested[entry];
      sums.frees += frees[entry];
      sums.freed += freed[entry] - replaced[entry];
    }
  }
  for (let at = 0; at < range.to; ++at) {
    sums.live += series[at];
    if (at >= range.from && sums.live > sums.peak) sums.peak = sums.live;
  }
  return sums;
}

export function listOf(selected: Uint8Array): number[] {
  const groups: number[] = [];
  for (let group = 0; group < selected.length; ++group) if (selected[group]) groups.push(group);
  return groups;
}

// Returns the groups that the filter selects, in a row for each key and allocator.
export function groupsBy(model: Model, dimension: Dimension | 'order', filter: Filter): KeyGroups[] {
  const selected = selectedGroups(model, filter);
  const keys = dimension === 'order' ? model.explore.groups.order : model.keys[dimension];
  const members = new Map<number, number[]>();
  for (let group = 0; group < model.groups; ++group) {
    if (!selected[group]) continue;
    const key = keys[group] * 4 + model.keys.allocator[group];
    const known = members.get(key);
    if (known) known.push(group);
    else members.set(key, [group]);
  }
  return [...members].map(([key, groups]) => ({ key: Math.floor(key / 4), allocator: ((key % 4) + 4) % 4, groups }));
}

// Returns the sums of groups that have the same key and allocator. Rows without memory in the range are left out.
export function fold(model: Model, dimension: Dimension | 'order', filter: Filter): Folded[] {
  const range = rangeOf(model, filter);
  return groupsBy(model, dimension, filter)
    .map((row) => ({ ...row, ...sumGroups(model, row.groups, range) }))
    .filter((row) => row.allocations || row.frees || row.live);
}

// Returns the bucket of the range at whose end these groups have the most live memory.
export function highestBucket(series: Float64Array, range: Range): number {
  let highest = range.from;
  for (let at = range.from; at < range.to; ++at) if (series[at] > series[highest]) highest = at;
  return highest;
}

export type Metric = 'allocated' | 'live' | 'peak' | 'wasted' | 'hits';
export const kMetrics: Metric[] = ['allocated', 'live', 'peak', 'wasted', 'hits'];

// Returns a metric for each group. For "peak" it is the live memory at the end of the bucket `highest`, so that the
// values of groups can be added.
export function metricByGroup(
  model: Model,
  selected: Uint8Array,
  metric: Metric,
  range: Range,
  highest: number,
): Float64Array {
  const values = new Float64Array(model.groups);
  const { begin, bucket, allocations, requested, allocated, freed } = model.changes;
  const cumulates = metric === 'live' || metric === 'peak';
  const from = cumulates ? 0 : range.from;
  const to = metric === 'peak' ? highest + 1 : range.to;
  for (let group = 0; group < model.groups; ++group) {
    if (!selected[group]) continue;
    if (metric === 'wasted' && model.keys.allocator[group] !== kSlab) continue;
    let sum = 0;
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry) {
      const at = bucket[entry];
      if (at < from) continue;
      if (at >= to) break;
      if (cumulates) sum += allocated[entry] - freed[entry];
      else if (metric === 'allocated') sum += allocated[entry];
      else if (metric === 'wasted') sum += allocated[entry] - requested[entry];
      else sum += allocations[entry];
    }
    values[group] = Math.max(0, sum);
  }
  return values;
}
