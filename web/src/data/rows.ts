// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the rows of tables. Rows of the report are used where possible, because they are exact. If the report has no
// rows for a filter, the rows are sums of groups.
import { allocatorNumber, kAllocators } from './allocators';
import type { Address, GroupRow, Groups, KeyValue, PageOrder } from './document';
import { onlyBy, type Dimension, type Filter } from './filter';
import type { Model } from './model';
import { fold, type Folded } from './sums';
import { isUpperBound } from './unseen_frees';

export interface Row {
  name: string;
  allocator: number;
  hits: number;
  requested: number;
  allocated: number | null;
  wasted: number | null;
  frees: number;
  freed: number | null;
  live: number;
  liveBytes: number | null;
  liveIsAtMost: boolean; // true: the number may be too large, because some frees may have no event
  peak: number | null;
  peakIsExact: boolean;
  meanLife: number | null;
  p50: number | null;
  p90: number | null;
  p99: number | null;
  pingpong: number | null;
  crossNode: number | null;
  failed: number | null;
  groups: number[]; // indices of the model's groups that belong to this row
}

export interface Rows {
  rows: Row[];
  exact: boolean; // true if all rows are from the report
  missing: number; // number of rows that kmemtrace left out of the page
}

export type TableDimension = Exclude<Dimension, 'allocator'>;

const kReportKeys: Record<TableDimension, string> = {
  site: 'call-site',
  module: 'module',
  subsystem: 'subsystem',
  directory: 'directory',
  cache: 'cache',
  task: 'comm',
};

// Returns a key's value as text.
export function keyName(value: KeyValue | undefined): string {
  if (value === null || value === undefined) return 'unknown';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map((frame) => keyName(frame as unknown as KeyValue)).join(' < ');
  if ('symbol' in value) return (value as Address).symbol;
  if ('comm' in value) return String(value['comm']);
  if ('name' in value) return String(value['name']);
  return 'text' in value ? String(value['text']) : JSON.stringify(value);
}

function ofReport(model: Model, row: GroupRow, name: string, allocator: number, groups: number[]): Row {
  const known = row.lifetime.count > 0;
  return {
    name,
    allocator,
    hits: row.allocations,
    requested: row.bytes_requested,
    allocated: row.bytes_allocated,
    wasted: row.bytes_wasted,
    frees: row.frees,
    freed: row.bytes_freed,
    live: row.live_allocations,
    liveBytes: row.live_bytes,
    liveIsAtMost: isUpperBound(model, groups, row.live_bytes),
    peak: row.peak_bytes,
    peakIsExact: true,
    meanLife: known ? row.lifetime.mean_ns : null,
    p50: known ? row.lifetime.p50_ns : null,
    p90: known ? row.lifetime.p90_ns : null,
    p99: known ? row.lifetime.p99_ns : null,
    pingpong: row.cross_cpu_frees,
    crossNode: row.cross_node_frees,
    failed: row.failed_allocations,
    groups,
  };
}

export function knowsBytes(model: Model, allocator: number): boolean {
  return model.trace.report[kAllocators[allocator]].bytes_allocated !== null;
}

function ofSums(model: Model, sums: Folded, name: string): Row {
  const known = knowsBytes(model, sums.allocator);
  return {
    name,
    allocator: sums.allocator,
    hits: sums.allocations,
    requested: sums.requested,
    allocated: known ? sums.allocated : null,
    wasted: sums.allocator === 0 ? sums.wasted : null,
    frees: sums.frees,
    freed: known ? sums.freed : null,
    live: Math.max(0, sums.liveAllocations),
    liveBytes: known ? sums.live : null,
    liveIsAtMost: isUpperBound(model, sums.groups, sums.live),
    peak: known ? sums.peak : null,
    peakIsExact: false,
    meanLife: null,
    p50: null,
    p90: null,
    p99: null,
    pingpong: null,
    crossNode: null,
    failed: null,
    groups: sums.groups,
  };
}

// Returns the report's rows by this dimension. The page contains no report by module, subsystem or directory.
function documentOf(model: Model, dimension: TableDimension): Groups | null {
  if (dimension === 'site') return model.trace.report.groups;
  if (dimension === 'cache') return model.trace.tables.caches;
  return dimension === 'task' ? model.trace.tables.tasks : null;
}

export function groupsByKey(model: Model, dimension: Dimension): Map<string, number[]> {
  const members = new Map<string, number[]>();
  const keys = model.keys[dimension];
  for (let group = 0; group < model.groups; ++group) {
    const key = `${model.keys.allocator[group]} ${model.explore.strings[keys[group]]}`;
    const known = members.get(key);
    if (known) known.push(group);
    else members.set(key, [group]);
  }
  return members;
}

export function tableRows(model: Model, dimension: TableDimension, filter: Filter): Rows {
  // Only the slab allocator has caches.
  const folded = (): Folded[] =>
    fold(model, dimension, filter).filter((row) => dimension !== 'cache' || kAllocators[row.allocator] === 'slab');
  const nameOf = (row: Folded): string => model.explore.strings[row.key];
  const document = onlyBy(filter, dimension, 'allocator') ? documentOf(model, dimension) : null;
  if (document === null)
    return { rows: folded().map((row) => ofSums(model, row, nameOf(row))), exact: false, missing: 0 };

  const members = groupsByKey(model, dimension);
  const key = kReportKeys[dimension];
  const rows: Row[] = [];
  let missing = 0;
  const shown = new Set<number>();
  for (const name of kAllocators) {
    const allocator = allocatorNumber(name);
    const groups = document[name];
    if (!groups) continue;
    shown.add(allocator);
    if (filter.allocator !== null && filter.allocator !== name) continue;
    missing += groups.total - groups.rows.length;
    for (const row of groups.rows) {
      // If the cache is unknown, sums use the allocator's name.
      const known = row.keys[key] ?? (dimension === 'cache' ? name : null);
      rows.push(ofReport(model, row, keyName(known), allocator, members.get(`${allocator} ${keyName(known)}`) ?? []));
    }
  }
  const wanted = filter[dimension];
  const exact = wanted === null ? rows : rows.filter((row) => row.name === wanted);
  // The report has no call sites of pages, because page events have none. The sums use the functions in the stacks.
  const others = folded().filter((row) => !shown.has(row.allocator));
  return {
    rows: [...exact, ...others.map((row) => ofSums(model, row, nameOf(row)))],
    exact: others.length === 0,
    missing,
  };
}

export interface OrderRow {
  order: number;
  allocations: number;
  allocated: number;
  frees: number;
  liveBytes: number;
  failed: number | null;
  groups: number[];
}

export function orderRows(model: Model, filter: Filter): { rows: OrderRow[]; exact: boolean } {
  const folded = fold(model, 'order', { ...filter, allocator: 'pages' });
  if (filter.allocator !== null && filter.allocator !== 'pages') return { rows: [], exact: true };
  if (!onlyBy(filter, 'allocator'))
    return {
      exact: false,
      rows: folded.map((row) => ({
        order: row.key,
        allocations: row.allocations,
        allocated: row.allocated,
        frees: row.frees,
        liveBytes: row.live,
        failed: null,
        groups: row.groups,
      })),
    };
  return {
    exact: true,
    rows: model.trace.report.page_orders.map((row: PageOrder) => ({
      order: row.order,
      allocations: row.allocations,
      allocated: row.bytes_allocated,
      frees: row.frees,
      liveBytes: row.live_bytes,
      failed: row.failed_allocations,
      groups: folded.find((sums) => sums.key === row.order)?.groups ?? [],
    })),
  };
}
