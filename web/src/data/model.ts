// SPDX-License-Identifier: GPL-2.0-or-later
// Stores a trace's sums over time as typed arrays: by how much the sums of each group change in each time bucket.
// Allocations with equal values of all keys form a group.
import { allocatorNumber, kAllocators } from './allocators';
import type { Explore, TraceDocument } from './document';
import { kDimensions, type Dimension, type Filter, type Range } from './filter';
import { buildTree, type StackTree } from './tree';
import { possiblyFreed } from './unseen_frees';

export interface Changes {
  begin: Uint32Array; // index of each group's first change; has one element more than there are groups
  bucket: Uint16Array;
  allocations: Float64Array;
  requested: Float64Array;
  allocated: Float64Array;
  frees: Float64Array;
  freed: Float64Array;
  replacements: Float64Array;
  replaced: Float64Array;
}

// Memory that ended in a later bucket than it was allocated in.
export interface Lives {
  begin: Uint32Array; // index of each group's first entry; has one element more than there are groups
  began: number[];
  ended: number[];
  bytes: number[];
}

export interface Model {
  trace: TraceDocument;
  explore: Explore;
  buckets: number;
  groups: number;
  keys: Record<Dimension, Uint32Array>; // for each group: the number of a string or of an allocator
  changes: Changes;
  lives: Lives;
  tree: StackTree;
  stringNumbers: Map<string, number>;
  possiblyFreed: Float64Array; // for each group: bytes that look live at the end, but may be freed
}

function decodeChanges(explore: Explore, groups: number): Changes {
  const packed = explore.changes;
  const entries = packed.group.length;
  const begin = new Uint32Array(groups + 1);
  const bucket = new Uint16Array(entries);
  let group = 0;
  let at = 0;
  let begun = -1;
  for (let entry = 0; entry < entries; ++entry) {
    group += packed.group[entry];
    if (group !== begun) {
      for (let next = begun + 1; next <= group; ++next) begin[next] = entry;
      begun = group;
      at = 0;
    }
    at += packed.bucket[entry];
    bucket[entry] = at;
  }
  for (let next = begun + 1; next <= groups; ++next) begin[next] = entries;
  return {
    begin,
    bucket,
    allocations: Float64Array.from(packed.allocations),
    requested: Float64Array.from(packed.requested),
    allocated: Float64Array.from(packed.allocated),
    frees: Float64Array.from(packed.frees),
    freed: Float64Array.from(packed.freed),
    replacements: packed.replacements ? Float64Array.from(packed.replacements) : new Float64Array(entries),
    replaced: packed.replaced ? Float64Array.from(packed.replaced) : new Float64Array(entries),
  };
}

function decodeLives(explore: Explore, groups: number): Lives {
  const { group: steps, began, ended, bytes } = explore.lives;
  const begin = new Uint32Array(groups + 1);
  let group = 0;
  for (const step of steps) {
    group += step;
    ++begin[group + 1];
  }
  for (let at = 0; at < groups; ++at) begin[at + 1] += begin[at];
  return { begin, began, ended, bytes };
}

export function makeModel(trace: TraceDocument): Model {
  const explore = trace.explore;
  const columns = explore.groups;
  const groups = columns.allocator.length;
  const stringNumbers = new Map<string, number>();
  explore.strings.forEach((text, number) => stringNumbers.set(text, number));
  const model = {
    trace,
    explore,
    buckets: explore.buckets,
    groups,
    keys: {
      allocator: Uint32Array.from(columns.allocator),
      site: Uint32Array.from(columns.site),
      module: Uint32Array.from(columns.module),
      subsystem: Uint32Array.from(columns.subsystem),
      directory: Uint32Array.from(columns.directory),
      cache: Uint32Array.from(columns.cache),
      task: Uint32Array.from(columns.task),
    },
    changes: decodeChanges(explore, groups),
    lives: decodeLives(explore, groups),
    tree: buildTree(explore),
    stringNumbers,
  };
  return { ...model, possiblyFreed: possiblyFreed(trace.leaks, model) };
}

// True if the trace has any allocation or free.
export function hasMemory({ report }: TraceDocument): boolean {
  return kAllocators.some((name) => {
    const { allocations, frees, failed_allocations } = report[name];
    return allocations > 0 || frees > 0 || failed_allocations > 0;
  });
}

// Returns a key's value as text.
export function keyText(model: Model, dimension: Dimension, value: number): string {
  return dimension === 'allocator' ? kAllocators[value] : model.explore.strings[value];
}

// Returns the number of a key's text in this trace; -1 if the trace lacks it.
export function keyNumber(model: Model, dimension: Dimension, text: string): number {
  return dimension === 'allocator' ? allocatorNumber(text) : (model.stringNumbers.get(text) ?? -1);
}

export function rangeOf(model: Model, filter: Filter): Range {
  if (filter.range === null) return { from: 0, to: model.buckets };
  const from = Math.min(filter.range.from, Math.max(0, model.buckets - 1));
  return { from, to: Math.max(from + 1, Math.min(filter.range.to, model.buckets)) };
}

// Returns 1 for each group that a filter selects, and 0 for other groups.
export function selectedGroups(model: Model, filter: Filter): Uint8Array {
  const selected = new Uint8Array(model.groups).fill(1);
  for (const dimension of kDimensions) {
    const text = filter[dimension];
    if (text === null) continue;
    const wanted = keyNumber(model, dimension, text);
    const keys = model.keys[dimension];
    for (let group = 0; group < model.groups; ++group) if (keys[group] !== wanted) selected[group] = 0;
  }
  return selected;
}
