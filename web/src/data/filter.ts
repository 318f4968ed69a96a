// SPDX-License-Identifier: GPL-2.0-or-later
// The filter of the whole page: a time range, and groups with a certain call site, owner (module, subsystem or
// directory), cache, task or allocator.

export type Dimension = 'site' | 'module' | 'subsystem' | 'directory' | 'cache' | 'task' | 'allocator';
export const kDimensions: Dimension[] = ['allocator', 'site', 'module', 'subsystem', 'directory', 'cache', 'task'];
export const kDimensionTitles: Record<Dimension, string> = {
  allocator: 'Allocator',
  site: 'Call site',
  module: 'Module',
  subsystem: 'Subsystem',
  directory: 'Directory',
  cache: 'Cache',
  task: 'Task',
};

// Range of buckets; the end is exclusive.
export interface Range {
  from: number;
  to: number;
}

export interface Filter {
  range: Range | null;
  site: string | null;
  module: string | null;
  subsystem: string | null;
  directory: string | null;
  cache: string | null;
  task: string | null;
  allocator: string | null;
}

export const kNoFilter: Filter = {
  range: null,
  site: null,
  module: null,
  subsystem: null,
  directory: null,
  cache: null,
  task: null,
  allocator: null,
};

export function filtersGroups(filter: Filter): boolean {
  return kDimensions.some((dimension) => filter[dimension] !== null);
}

// True if the filter selects only by these dimensions, and not by time. Otherwise, rows of the report's own documents
// cannot be used.
export function onlyBy(filter: Filter, ...dimensions: Dimension[]): boolean {
  return (
    filter.range === null &&
    kDimensions.every((dimension) => filter[dimension] === null || dimensions.includes(dimension))
  );
}
