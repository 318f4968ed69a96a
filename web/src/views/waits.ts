// SPDX-License-Identifier: GPL-2.0-or-later
// Shows how many tasks waited for memory over time, and the longest waits.
import type { App } from '../app';
import type { Timeline, Wait, WaitSums } from '../data/document';
import { bytes, clock, count, duration, numberOf, percent, printable } from '../text';
import { seriesColors } from '../widgets/colors';
import { empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { plot } from '../widgets/plot';
import { table } from '../widgets/table';

// Returns a text such as "93.0 % compaction, 7.0 % direct reclaim".
function shares(sums: WaitSums): string {
  return Object.entries(sums.own_ns)
    .filter(([, time]) => time > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, time]) => `${percent((100 * time) / sums.total_ns)} ${kind.replace('_', ' ')}`)
    .join(', ');
}

function memory({ memory: awaited }: Wait): string {
  if (awaited === null) return 'unknown';
  const what = awaited.allocator === 'pages' ? 'of pages' : (awaited.cache ?? 'by kmalloc');
  const site = awaited.call_site === null ? '' : ` in ${awaited.call_site}`;
  return `${awaited.failed ? 'failed: ' : ''}${bytes(awaited.bytes_requested)} ${what}${site}`;
}

function longest(start: number, rows: Wait[]): HTMLElement {
  return table({
    name: 'waits',
    label: 'Longest waits',
    rows,
    sort: '-time',
    empty: 'No wait is in the selected time.',
    columns: [
      { key: 'at', title: 'At', value: (row) => row.began_ns, text: (row) => clock(row.began_ns - start) },
      { key: 'task', title: 'Task', isText: true, value: (row) => row.task, text: (row) => printable(row.task) },
      { key: 'time', title: 'Time', value: (row) => row.total_ns, text: (row) => duration(row.total_ns) },
      { key: 'order', title: 'Order', value: (row) => row.order, text: (row) => count(row.order) },
      { key: 'kinds', title: 'Kinds', isText: true, width: 32, value: shares, text: shares },
      {
        key: 'memory',
        title: 'Memory',
        isText: true,
        isCode: true,
        width: 48,
        value: (row) => memory(row),
        text: (row) => printable(memory(row)),
      },
    ],
  });
}

export function waitsSection(app: App, timeline: Timeline): HTMLElement | null {
  const { waits } = timeline;
  if (!waits || waits.total.waits === 0) return null;
  const { start_ns, bucket_ns, waiting_ns } = waits.over_time;
  const start = app.model().explore.start_ns;
  const { from, to } = app.times;
  return section(
    'Tasks that waited for memory',
    el(
      'p',
      {},
      `Tasks waited ${duration(waits.total.total_ns)} in ${numberOf(waits.total.waits, 'wait')}: ${shares(waits.total)}.`,
    ),
    waiting_ns.length < 2
      ? empty('The trace is too short for a plot.')
      : plot({
          label: 'Number of tasks that waited for memory over time; the table below has the longest waits',
          times: waiting_ns.map((_, bucket) => (start_ns - start + (bucket + 0.5) * bucket_ns) / 1e9),
          lines: [{ name: 'waiting', color: seriesColors()[0], values: waiting_ns.map((time) => time / bucket_ns) }],
          stacked: false,
          from: from / 1e9,
          to: to / 1e9,
          ticks: (values) => values.map((value) => `${+value.toPrecision(4)}`),
          brush: (first, last) => app.setTimes(start + first * 1e9, start + last * 1e9),
          height: 150,
        }),
    longest(
      start,
      waits.longest.filter((wait) => wait.began_ns - start >= from && wait.began_ns - start <= to),
    ),
    note(
      `The plot shows the average number of waiting tasks in buckets of ${clock(bucket_ns)}. The page has only the ${waits.longest.length} longest waits.`,
    ),
  );
}
