// SPDX-License-Identifier: GPL-2.0-or-later
// What the whole page is about: a stretch of time, and groups of some call site, cache, task, allocator.

export type Dimension = 'site' | 'cache' | 'task' | 'allocator';
export const kDimensions: Dimension[] = ['allocator', 'site', 'cache', 'task'];
export const kDimensionTitles: Record<Dimension, string> = {
  allocator: 'Allocator',
  site: 'Call site',
  cache: 'Cache',
  task: 'Task',
};

// Buckets of the clock, the end exclusive.
export interface Range {
  from: number;
  to: number;
}

export interface Filter {
  range: Range | null;
  site: string | null;
  cache: string | null;
  task: string | null;
  allocator: string | null;
}

export const kNoFilter: Filter = { range: null, site: null, cache: null, task: null, allocator: null };

export function filtersGroups(filter: Filter): boolean {
  return kDimensions.some((dimension) => filter[dimension] !== null);
}

// Whether a filter selects by anything but these: then rows of the report's own documents do not answer it.
export function onlyBy(filter: Filter, ...dimensions: Dimension[]): boolean {
  return (
    filter.range === null &&
    kDimensions.every((dimension) => filter[dimension] === null || dimensions.includes(dimension))
  );
}
