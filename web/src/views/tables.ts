// SPDX-License-Identifier: GPL-2.0-or-later
// The page with tables of call sites, modules, subsystems, directories, caches, tasks and page orders.
import type { App } from '../app';
import { kDimensionTitles } from '../data/filter';
import type { Model } from '../data/model';
import { orderRows, tableRows, type OrderRow, type Row, type TableDimension } from '../data/rows';
import { liveSeries } from '../data/sums';
import type { TableName } from '../state';
import { atMost, bytes, count, duration, percent, printable, rate } from '../text';
import { note, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { sparkline } from '../widgets/spark';
import { table, type Column } from '../widgets/table';
import { allocatorColumn, kUpperBound, leftOutNote, nameColumn, nothingLeft, upperBoundNote } from './common';

const kTitles: { value: TableName; title: string }[] = [
  { value: 'sites', title: 'Call sites' },
  { value: 'modules', title: 'Modules' },
  { value: 'subsystems', title: 'Subsystems' },
  { value: 'directories', title: 'Directories' },
  { value: 'caches', title: 'Caches' },
  { value: 'tasks', title: 'Tasks' },
  { value: 'orders', title: 'Page orders' },
];
const kDimensions: Record<Exclude<TableName, 'orders'>, TableDimension> = {
  sites: 'site',
  modules: 'module',
  subsystems: 'subsystem',
  directories: 'directory',
  caches: 'cache',
  tasks: 'task',
};

interface Number_<R> {
  key: string;
  title: string;
  help: string;
  get: (row: R) => number | null;
}

function numeric<R>(column: Number_<R>, format: (value: number | null) => string): Column<R> {
  const { get, ...rest } = column;
  return { ...rest, value: get, text: (row) => format(get(row)) };
}

function spark<R extends { groups: number[] }>(model: Model, name: (row: R) => string): Column<R> {
  return {
    key: 'trend',
    title: 'Live over time',
    help: 'live bytes over the whole time',
    width: 14,
    value: (row) => row.groups.length,
    text: () => '',
    node: (row) =>
      row.groups.length === 0
        ? document.createTextNode('–')
        : sparkline(liveSeries(model, row.groups), `Live bytes of ${name(row)} over time`),
  };
}

const waste = (row: Row): number | null =>
  row.wasted === null || !row.allocated ? null : (100 * row.wasted) / row.allocated;
const each = (row: Row): number | null =>
  row.allocated === null || row.hits === 0 ? null : Math.floor(row.allocated / row.hits);

// The columns have the names that `kmemtrace report` uses.
export function rowColumns(model: Model, dimension: TableDimension, seconds: number, exact: boolean): Column<Row>[] {
  const columns: (Column<Row> | false)[] = [
    nameColumn(kDimensionTitles[dimension]),
    allocatorColumn(),
    spark(model, (row) => printable(row.name)),
    numeric({ key: 'hits', title: 'Hits', help: 'allocations that succeeded', get: (row) => row.hits }, count),
    numeric(
      {
        key: 'requested',
        title: 'Requested',
        help: 'bytes requested; for percpu memory, per CPU',
        get: (row) => row.requested,
      },
      bytes,
    ),
    numeric({ key: 'allocated', title: 'Allocated', help: 'bytes allocated', get: (row) => row.allocated }, bytes),
    numeric({ key: 'size', title: 'Each', help: 'average bytes allocated per allocation', get: each }, bytes),
    numeric({ key: 'waste', title: 'Waste', help: 'share of bytes allocated beyond the request', get: waste }, percent),
    numeric(
      { key: 'wasted', title: 'Wasted', help: 'bytes allocated beyond the request', get: (row) => row.wasted },
      bytes,
    ),
    numeric(
      { key: 'frees', title: 'Frees', help: 'frees of memory that was allocated here', get: (row) => row.frees },
      count,
    ),
    numeric({ key: 'freed', title: 'Freed', help: 'bytes of these frees', get: (row) => row.freed }, bytes),
    {
      key: 'live',
      title: 'Live',
      help: `allocations not freed at the end; ${kUpperBound}`,
      value: (row) => row.live,
      text: (row) => atMost(row.liveIsAtMost, count(row.live)),
    },
    {
      key: 'live-bytes',
      title: 'Live bytes',
      help: `bytes not freed at the end; ${kUpperBound}`,
      value: (row) => row.liveBytes,
      text: (row) => atMost(row.liveIsAtMost, bytes(row.liveBytes)),
    },
    {
      key: 'peak',
      title: 'Peak',
      help: exact ? 'highest number of live bytes' : 'highest number of live bytes at the end of a time bucket',
      value: (row) => row.peak,
      text: (row) => (row.peakIsExact || row.peak === null ? bytes(row.peak) : `≥ ${bytes(row.peak)}`),
    },
    numeric(
      {
        key: 'rate',
        title: 'Hits/s',
        help: 'allocations per second',
        get: (row) => (seconds > 0 ? row.hits / seconds : null),
      },
      rate,
    ),
    exact &&
      numeric(
        {
          key: 'mean-life',
          title: 'Mean life',
          help: 'average lifetime of freed allocations',
          get: (row) => row.meanLife,
        },
        duration,
      ),
    exact &&
      numeric(
        {
          key: 'p50-life',
          title: 'Life 50%',
          help: 'half of the freed allocations lived at most this long',
          get: (row) => row.p50,
        },
        duration,
      ),
    exact &&
      numeric(
        {
          key: 'p90-life',
          title: 'Life 90%',
          help: '90 of 100 freed allocations lived at most this long',
          get: (row) => row.p90,
        },
        duration,
      ),
    exact &&
      numeric(
        {
          key: 'p99-life',
          title: 'Life 99%',
          help: '99 of 100 freed allocations lived at most this long',
          get: (row) => row.p99,
        },
        duration,
      ),
    exact &&
      numeric(
        {
          key: 'pingpong',
          title: 'Ping-pong',
          help: "frees on another CPU than the allocation's",
          get: (row) => row.pingpong,
        },
        count,
      ),
    exact &&
      numeric(
        {
          key: 'cross-node',
          title: 'Cross-node',
          help: 'frees on a CPU of another NUMA node',
          get: (row) => row.crossNode,
        },
        count,
      ),
    exact && numeric({ key: 'failed', title: 'Failed', help: 'failed allocations', get: (row) => row.failed }, count),
  ];
  return columns.filter((column) => column !== false);
}

function groupsTable(app: App, name: Exclude<TableName, 'orders'>): HTMLElement {
  const model = app.model();
  const dimension = kDimensions[name];
  const { filter } = app.state;
  const { rows, exact, missing } = tableRows(model, dimension, filter);
  const anyExact = rows.some((row) => row.peakIsExact);
  const { from, to } = app.times;
  const ns = filter.range ? to - from : app.trace.report.trace.recorded_ns;
  return el(
    'div',
    {},
    anyExact || rows.length === 0
      ? !exact &&
          rows.length > 0 &&
          note('Rows with “≥” are sums over time; their peak is measured at the ends of buckets.')
      : note('These are sums over time; peaks are measured at the ends of buckets.'),
    missing > 0 && note(`The ${count(missing)} smallest rows are not in this file.`),
    !exact && leftOutNote(app),
    upperBoundNote(rows.some((row) => row.liveIsAtMost)),
    table({
      name,
      label: kTitles.find((title) => title.value === name)?.title ?? name,
      columns: rowColumns(model, dimension, ns / 1e9, anyExact),
      rows,
      sort: '-allocated',
      filterText: (row) => printable(row.name),
      activate: (row) => app.filterBy(dimension, app.state.filter[dimension] === row.name ? null : row.name),
      activateHelp: 'Filters everything by this row; repeat it to remove the filter',
      empty: nothingLeft(app),
    }),
  );
}

function ordersTable(app: App): HTMLElement {
  const model = app.model();
  const { rows, exact } = orderRows(model, app.state.filter);
  const columns: Column<OrderRow>[] = [
    {
      key: 'order',
      title: 'Order',
      help: '2^order pages in one allocation',
      value: (row) => row.order,
      text: (row) => (row.order < 0 ? 'not known' : String(row.order)),
    },
    spark(model, (row) => `order ${row.order}`),
    numeric(
      { key: 'allocations', title: 'Allocations', help: 'allocations that succeeded', get: (row) => row.allocations },
      count,
    ),
    numeric({ key: 'allocated', title: 'Allocated', help: 'bytes of these pages', get: (row) => row.allocated }, bytes),
    numeric(
      {
        key: 'frees',
        title: exact ? 'Free events' : 'Frees',
        help: exact ? 'frees of this order' : 'allocations of this order that ended',
        get: (row) => row.frees,
      },
      count,
    ),
    numeric(
      {
        key: 'live-bytes',
        title: 'Live bytes',
        help: 'live bytes of allocations of this order',
        get: (row) => row.liveBytes,
      },
      bytes,
    ),
    numeric({ key: 'failed', title: 'Failed', help: 'failed allocations', get: (row) => row.failed }, count),
  ];
  return table({
    name: 'orders',
    label: 'Page orders',
    columns,
    rows,
    sort: 'order',
    empty: nothingLeft(app),
  });
}

export function tablesPage(app: App): HTMLElement {
  const chosen = app.state.table;
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'bar' },
      segmented('tables', 'Table', kTitles, chosen, (name) => app.set({ table: name })),
    ),
    chosen === 'orders' ? ordersTable(app) : groupsTable(app, chosen),
  );
}
