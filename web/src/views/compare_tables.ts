// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the result of `kmemtrace diff` for the two traces: the totals and each call site.
import type { App } from '../app';
import { allocatorNumber, kAllocators, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName, Diff, DiffColumn, DiffRow, DiffUnit } from '../data/document';
import { keyName } from '../data/rows';
import { bytes, change, count, duration, fixed, percent, printable, rate, signed } from '../text';
import { note, section, selection } from '../widgets/controls';
import { el } from '../widgets/dom';
import { table, type Column } from '../widgets/table';
import { allocatorColumn, nameColumn, notFollowed } from './common';

const options = { column: '' };

type Format = (value: number | null) => string;
const kFormats: Record<DiffUnit, Format> = {
  bytes,
  percent,
  ns: duration,
  count: (value) => (value === null || Number.isInteger(value) ? count(value) : rate(value)),
};

function differenceText(unit: DiffUnit, difference: number | null): string {
  if (difference === null) return '–';
  const size = kFormats[unit](Math.abs(difference));
  if (size === kFormats[unit](0)) return size;
  return difference > 0 ? `+${size}` : `-${size}`;
}

// For percentages, the difference is shown in percentage points, because a percentage of a percentage would be
// misleading.
function relativeText(unit: DiffUnit, column: DiffColumn | undefined): string {
  if (unit !== 'percent') return change(column?.a, column?.b);
  const points = column?.difference ?? null;
  return points === null ? '–' : `${signed(points, (value) => fixed(value, 1))} pt`;
}

interface Compared {
  name: string;
  allocator: number;
  column: DiffColumn | undefined;
}

function verdict(row: Compared): HTMLElement {
  const said = row.column?.verdict;
  const rises = (row.column?.difference ?? 0) > 0;
  return el('span', { class: said === 'changed' ? (rises ? 'more' : 'less') : 'muted' }, printable(said ?? '–'));
}

function numberColumns(unit: DiffUnit): Column<Compared>[] {
  const format = kFormats[unit];
  return [
    { key: 'a', title: 'A', value: (row) => row.column?.a ?? null, text: (row) => format(row.column?.a ?? null) },
    { key: 'b', title: 'B', value: (row) => row.column?.b ?? null, text: (row) => format(row.column?.b ?? null) },
    {
      key: 'difference',
      title: 'B − A',
      value: (row) => row.column?.difference ?? null,
      text: (row) => differenceText(unit, row.column?.difference ?? null),
    },
    {
      key: 'percent',
      title: 'Change',
      value: (row) => row.column?.percent ?? null,
      text: (row) => relativeText(unit, row.column),
    },
    {
      key: 'verdict',
      title: 'Verdict',
      isText: true,
      width: 13,
      value: (row) => row.column?.verdict ?? '',
      text: (row) => row.column?.verdict ?? '–',
      node: verdict,
    },
  ];
}

function isZero(column: DiffColumn | undefined): boolean {
  return (column?.a ?? 0) === 0 && (column?.b ?? 0) === 0;
}

// True if a call site such as "getname_flags.part.0+0x2b" is in this function.
export function isIn(name: string, site: string): boolean {
  return site.startsWith(name) && /^([+. ]|$)/.test(site.slice(name.length));
}

function rowsOf(rows: DiffRow[], key: string, allocator: AllocatorName): Compared[] {
  return rows.map((row) => ({
    name: Object.values(row.keys).map(keyName).join(', '),
    allocator: allocatorNumber(allocator),
    column: row.columns[key],
  }));
}

function callSites(app: App, diff: Diff, key: string, allocator: AllocatorName): HTMLElement {
  const { site } = app.state.filter;
  const all = rowsOf(diff.groups[allocator]?.rows ?? [], key, allocator);
  const wanted = site === null ? all : all.filter((row) => isIn(row.name, site));
  const rows = wanted.filter((row) => !isZero(row.column));
  const zero = wanted.length - rows.length;
  const missing = (diff.groups[allocator]?.total ?? 0) - all.length;
  return section(
    `Call sites of ${kAllocatorTitles[allocator].toLowerCase()}`,
    notFollowed(app, ['site', 'allocator']),
    zero > 0 && note(`${count(zero)} more rows have no “${diff.columns[key].title}” in either trace.`),
    missing > 0 && note(`The ${count(missing)} smallest rows are not in this file.`),
    table({
      name: 'diff',
      label: 'Call sites of both traces',
      rows,
      columns: [nameColumn<Compared>('Call site'), ...numberColumns(diff.columns[key].unit)],
      filterText: (row) => printable(row.name),
      empty: all.length > 0 ? 'No call site is left by the filters.' : 'Neither trace has its call sites.',
    }),
  );
}

export function compareTables(app: App, diff: Diff, allocator: AllocatorName): HTMLElement {
  const keys = Object.keys(diff.columns);
  const key = keys.includes(options.column) ? options.column : diff.sort;
  const totals = kAllocators
    .filter((name) => diff.totals[name])
    .filter((name) => app.state.filter.allocator === null || app.state.filter.allocator === name)
    .map((name): Compared => ({ name, allocator: allocatorNumber(name), column: diff.totals[name]?.columns[key] }));
  return el(
    'div',
    {},
    section(
      'Totals',
      el(
        'div',
        { class: 'bar' },
        selection(
          'diff-column',
          'Compare',
          keys.map((value) => ({ value, title: diff.columns[value].title })),
          key,
          (value) => {
            options.column = value;
            app.redraw();
          },
        ),
      ),
      note(`${diff.columns[key].title}: ${diff.columns[key].meaning}.`),
      note(
        diff.basis.per === 'trace'
          ? `Counts are compared without scaling: ${printable(diff.basis.why)}.`
          : `Counts are divided by ${diff.basis.per === 'second' ? 'seconds' : `events of ${printable(diff.basis.event ?? '')}`}: ${printable(diff.basis.why)}.`,
        ' “Unchanged” means that the difference may be chance.',
      ),
      notFollowed(app, ['allocator']),
      table({
        name: 'diff-totals',
        label: 'Totals of both traces',
        short: true,
        rows: totals,
        columns: [allocatorColumn<Compared>(), ...numberColumns(diff.columns[key].unit)],
        empty: 'Neither trace has its allocations.',
      }),
    ),
    callSites(app, diff, key, allocator),
  );
}
