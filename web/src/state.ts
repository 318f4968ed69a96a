// SPDX-License-Identifier: GPL-2.0-or-later
// The view state is stored in the page's address after "#", so that users can save and share it.
import { kDimensions, kNoFilter, type Filter } from './data/filter';

export const kPages = [
  'findings',
  'overview',
  'timeline',
  'flame',
  'tables',
  'waste',
  'lifetimes',
  'cpus',
  'leaks',
  'anomalies',
  'compare',
  'calls',
] as const;
export type Page = (typeof kPages)[number];

export const kTables = ['sites', 'modules', 'subsystems', 'directories', 'caches', 'tasks', 'orders'] as const;
export type TableName = (typeof kTables)[number];

export interface State {
  page: Page;
  table: TableName;
  side: number; // index of the trace; 0 or 1
  filter: Filter;
  callsOf: string | null; // a function
}

export const kFirstState: State = { page: 'overview', table: 'sites', side: 0, filter: kNoFilter, callsOf: null };

export function toHash(state: State): string {
  const words = new URLSearchParams();
  if (state.side !== 0) words.set('trace', 'b');
  const range = state.filter.range;
  if (range) words.set('range', `${range.from}-${range.to}`);
  for (const dimension of kDimensions) {
    const text = state.filter[dimension];
    if (text !== null) words.set(dimension, text);
  }
  if (state.callsOf !== null) words.set('function', state.callsOf);
  const query = words.toString();
  const page = state.page === 'tables' ? `tables/${state.table}` : state.page;
  return `#${page}${query ? `?${query}` : ''}`;
}

// `front` is the page to show if the address contains no page.
export function fromHash(hash: string, traces: number, front: Page | null = null): State {
  const [path, query = ''] = hash.replace(/^#/, '').split('?', 2);
  const [page, table] = path.split('/', 2);
  const words = new URLSearchParams(query);
  const range = /^(\d{1,9})-(\d{1,9})$/.exec(words.get('range') ?? '');
  const [from, to] = range ? [Number(range[1]), Number(range[2])] : [0, 0];
  return {
    page:
      kPages.find((known) => known === page && (known !== 'compare' || traces > 1)) ??
      (traces > 1 ? 'compare' : (front ?? 'overview')),
    table: kTables.find((known) => known === table) ?? 'sites',
    side: traces > 1 && words.get('trace') === 'b' ? 1 : 0,
    filter: {
      range: range && to > from ? { from, to } : null,
      site: words.get('site'),
      module: words.get('module'),
      subsystem: words.get('subsystem'),
      directory: words.get('directory'),
      cache: words.get('cache'),
      task: words.get('task'),
      allocator: words.get('allocator'),
    },
    callsOf: words.get('function'),
  };
}
