// SPDX-License-Identifier: GPL-2.0-or-later
// The section that shows what the selected time left behind.
import type { App } from '../app';
import { allocatorNumber, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName } from '../data/document';
import { knowsBytes } from '../data/rows';
import { windowClasses, windowRange, type WindowClasses } from '../data/window';
import { bytes, clock } from '../text';
import { note, section } from '../widgets/controls';
import { table, type Column } from '../widgets/table';
import { allocatorColumn, notFollowed, presentAllocators } from './common';

interface Row extends WindowClasses {
  allocator: number;
}

function column(key: string, title: string, help: string, value: (row: Row) => number): Column<Row> {
  return { key, title, help, value, text: (row) => bytes(value(row)) };
}

const kColumns: Column<Row>[] = [
  column(
    'live-at-start',
    'Live at start',
    'allocated before the selected time and live at its start',
    (row) => row.freedOlder + row.throughout,
  ),
  column('freed-older', '− older freed', 'allocated before the selected time and freed in it', (row) => row.freedOlder),
  column('left-live', '+ left live', 'allocated in the selected time and live at its end', (row) => row.leftLive),
  column(
    'live-at-end',
    '= live at end',
    'live at the end of the selected time',
    (row) => row.leftLive + row.throughout,
  ),
  column('freed-inside', 'Freed inside', 'allocated and freed in the selected time', (row) => row.freedInside),
];

// Returns null if no time is selected.
export function windowSection(app: App): HTMLElement | null {
  const { filter } = app.state;
  if (filter.range === null) return null;
  const model = app.model();
  const rows = presentAllocators(app)
    .filter((name: AllocatorName) => filter.allocator === null || filter.allocator === name)
    .map((name) => allocatorNumber(name))
    .filter((allocator) => knowsBytes(model, allocator))
    .map((allocator) => ({ allocator, ...windowClasses(model, filter, allocator) }));
  const range = windowRange(model, filter);
  const { bucket_ns, lives_coarse } = model.explore;
  return section(
    'Memory left by the selected time',
    notFollowed(app, ['range', 'allocator']),
    table({
      name: 'window',
      label: 'Memory of the selected time',
      short: true,
      rows,
      columns: [allocatorColumn<Row>(), ...kColumns],
      empty: `The traced kernel does not report the bytes of ${filter.allocator === null ? 'its' : kAllocatorTitles[filter.allocator as AllocatorName].toLowerCase()} allocations.`,
    }),
    note(
      `From ${clock(range.from * bucket_ns)} to ${clock(range.to * bucket_ns)}, in steps of ${clock(bucket_ns * lives_coarse)}. Memory from before the trace is not counted. \`kmemtrace report --window\` shows these sums for each call site.`,
    ),
  );
}
