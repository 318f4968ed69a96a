// SPDX-License-Identifier: GPL-2.0-or-later
// The section that shows what the selected time left behind.
import type { App } from '../app';
import { kDimensionTitles, type Dimension } from '../data/filter';
import { keyText, type Model } from '../data/model';
import { knowsBytes } from '../data/rows';
import { isUpperBound } from '../data/unseen_frees';
import { windowRange, windowRows, type WindowRow } from '../data/window';
import { atMost, bytes, clock, printable } from '../text';
import { note, section } from '../widgets/controls';
import { table, type Column } from '../widgets/table';
import { allocatorColumn, kUpperBound, leftOutNote, nameColumn, nothingLeft, upperBoundNote } from './common';

type Row = WindowRow & {
  name: string;
  isAtMost: boolean; // true: memory that is live at the end may already be freed
};

function column(key: string, title: string, help: string, value: (row: Row) => number): Column<Row> {
  return { key, title, help, value, text: (row) => bytes(value(row)) };
}

function liveColumn(key: string, title: string, help: string, value: (row: Row) => number): Column<Row> {
  return {
    ...column(key, title, `${help}; ${kUpperBound}`, value),
    text: (row) => atMost(row.isAtMost, bytes(value(row))),
  };
}

const kLeftLive = liveColumn(
  'left-live',
  '+ left live',
  'allocated in the selected time and live at its end',
  (row) => row.leftLive,
);
const kFreedOlder = column(
  'freed-older',
  '− older freed',
  'allocated before the selected time and freed in it',
  (row) => row.freedOlder,
);
const kFreedInside = column(
  'freed-inside',
  'Freed inside',
  'allocated and freed in the selected time',
  (row) => row.freedInside,
);
const kThroughout = liveColumn(
  'throughout',
  'Throughout',
  'allocated before the selected time and live at its end',
  (row) => row.throughout,
);

// The columns of the totals show how the memory at the start becomes the memory at the end.
const kTotals: Column<Row>[] = [
  allocatorColumn<Row>(),
  liveColumn(
    'live-at-start',
    'Live at start',
    'allocated before the selected time and live at its start',
    (row) => row.freedOlder + row.throughout,
  ),
  kFreedOlder,
  kLeftLive,
  liveColumn(
    'live-at-end',
    '= live at end',
    'live at the end of the selected time',
    (row) => row.leftLive + row.throughout,
  ),
  kFreedInside,
  kThroughout,
];
// The columns have the names that `kmemtrace report --window` uses.
const kClasses: Column<Row>[] = [
  { ...kLeftLive, title: 'Left live' },
  { ...kFreedOlder, title: 'Older freed' },
  kFreedInside,
  kThroughout,
];

function rowsBy(app: App, model: Model, dimension: Dimension): Row[] {
  return windowRows(model, dimension, app.state.filter)
    .filter((row) => knowsBytes(model, row.allocator))
    .map((row) => ({
      ...row,
      name: keyText(model, dimension, row.key),
      isAtMost: isUpperBound(model, row.groups, row.leftLive + row.throughout),
    }));
}

// Returns null if no time is selected. `by` is the key of the rows.
export function windowSection(app: App, by: Dimension): HTMLElement | null {
  if (app.state.filter.range === null) return null;
  const model = app.model();
  const totals = rowsBy(app, model, 'allocator');
  const rows = by === 'allocator' ? [] : rowsBy(app, model, by);
  const range = windowRange(model, app.state.filter);
  const { bucket_ns, lives_coarse } = model.explore;
  const title = kDimensionTitles[by];
  return section(
    'Memory left by the selected time',
    table({
      name: 'window',
      label: 'Memory of the selected time',
      short: true,
      rows: totals,
      columns: kTotals,
      empty: nothingLeft(app),
    }),
    note(
      `From ${clock(range.from * bucket_ns)} to ${clock(range.to * bucket_ns)}, in steps of ${clock(bucket_ns * lives_coarse)}. Memory from before the trace is not counted.`,
    ),
    by !== 'allocator' &&
      table({
        name: `window-${by}`,
        label: `Memory of the selected time by ${title.toLowerCase()}`,
        columns: [nameColumn<Row>(title), allocatorColumn<Row>(), ...kClasses],
        rows,
        sort: '-left-live',
        filterText: (row) => printable(row.name),
        activate: (row) => app.filterBy(by, app.state.filter[by] === row.name ? null : row.name),
        activateHelp: 'Filters everything by this row; repeat it to remove the filter',
        empty: nothingLeft(app),
      }),
    rows.some((row) => row.name === '(others)') && leftOutNote(app),
    upperBoundNote([...totals, ...rows].some((row) => row.isAtMost)),
  );
}
