// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the kernel's own memory counters during the trace.
import type { App } from '../app';
import type { Timeline } from '../data/document';
import { bytes, count, printable, signed } from '../text';
import { seriesColors } from '../widgets/colors';
import { empty, section, segmented, selection } from '../widgets/controls';
import { el } from '../widgets/dom';
import { plot } from '../widgets/plot';
import { table } from '../widgets/table';

const kMost = 8;
const options: { source: string; line: string; change: 'yes' | 'no' } = { source: 'meminfo', line: '', change: 'yes' };

const kSources: Record<string, string> = {
  meminfo: '/proc/meminfo',
  vmstat: '/proc/vmstat',
  'vmstat-rate': '/proc/vmstat, bytes per second',
  'slabinfo-objects': '/proc/slabinfo, objects',
  'slabinfo-pages': '/proc/slabinfo, pages',
  'slab-extensions': 'accounting data of slabs, at most',
};

export function samples(app: App, timeline: Timeline): HTMLElement {
  const sources = [...new Set(timeline.samples.map((sample) => sample.source))];
  if (sources.length === 0)
    return empty('The trace has no samples of meminfo, vmstat or slabinfo; recordings of kmemtrace have them.');
  const source = sources.includes(options.source) ? options.source : sources[0];
  const all = timeline.samples.filter((sample) => sample.source === source);
  const change = (points: [number, number][]): number => {
    let low = Infinity;
    let high = -Infinity;
    for (const [, value] of points) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return high - low;
  };
  const ordered = all
    .map((sample) => ({ ...sample, change: change(sample.points) }))
    .sort((a, b) => b.change - a.change || (a.name < b.name ? -1 : 1));
  const chosen = ordered.filter((sample) => sample.name === options.line);
  const drawn = chosen.length > 0 ? chosen : ordered.slice(0, kMost);
  const start = app.model().explore.start_ns;
  const times = [...new Set(drawn.flatMap((sample) => sample.points.map(([time]) => time)))].sort((a, b) => a - b);
  const colors = seriesColors();
  const lines = drawn.map((sample, at) => {
    const first = options.change === 'yes' ? (sample.points[0]?.[1] ?? 0) : 0;
    const values = new Map(sample.points.map(([time, value]) => [time, value - first]));
    return {
      name: printable(sample.name),
      color: colors[at % colors.length],
      values: times.map((time) => values.get(time) ?? null),
    };
  });
  const { from, to } = app.times;
  const rateUnit = source === 'vmstat-rate' ? '/s' : '';
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'bar' },
      selection(
        'source',
        'From',
        sources.map((value) => ({ value, title: kSources[value] ?? printable(value) })),
        source,
        (value) => {
          options.source = value;
          options.line = '';
          app.redraw();
        },
      ),
      selection(
        'line',
        'Line',
        [
          { value: '', title: `the ${Math.min(kMost, ordered.length)} that changed most` },
          ...ordered.map((sample) => ({ value: sample.name, title: printable(sample.name) })),
        ],
        chosen.length > 0 ? options.line : '',
        (value) => {
          options.line = value;
          app.redraw();
        },
      ),
      segmented(
        'sample-change',
        'Show',
        [
          { value: 'yes', title: 'change' },
          { value: 'no', title: 'value' },
        ],
        options.change,
        (change) => {
          options.change = change;
          app.redraw();
        },
      ),
    ),
    plot({
      label: `Samples of ${kSources[source] ?? source} over time; the table below has them`,
      times: times.map((time) => (time - start) / 1e9),
      lines,
      stacked: false,
      points: true,
      from: from / 1e9,
      to: to / 1e9,
      suffix: rateUnit,
      brush: (a, b) => app.setTimes(start + a * 1e9, start + b * 1e9),
      height: 190,
    }),
    table({
      name: 'samples',
      label: 'Samples of the kernel',
      short: true,
      rows: drawn.map((sample, at) => ({ ...sample, color: lines[at].color })),
      columns: [
        {
          key: 'name',
          title: 'Line',
          isText: true,
          isCode: true,
          value: (row) => row.name,
          text: (row) => printable(row.name),
          node: (row) => {
            const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
            swatch.style.backgroundColor = row.color;
            return el('span', {}, swatch, printable(row.name));
          },
        },
        {
          key: 'samples',
          title: 'Samples',
          value: (row) => row.points.length,
          text: (row) => count(row.points.length),
        },
        {
          key: 'first',
          title: 'First',
          value: (row) => row.points[0]?.[1] ?? null,
          text: (row) => bytes(row.points[0]?.[1]) + rateUnit,
        },
        {
          key: 'last',
          title: 'Last',
          value: (row) => row.points.at(-1)?.[1] ?? null,
          text: (row) => bytes(row.points.at(-1)?.[1]) + rateUnit,
        },
        {
          key: 'change',
          title: 'Range',
          help: 'highest less lowest',
          value: (row) => row.change,
          text: (row) => bytes(row.change) + rateUnit,
        },
      ],
      empty: 'No samples.',
    }),
  );
}

export function balances(timeline: Timeline): HTMLElement | null {
  if (timeline.balances.length === 0) return null;
  return section(
    'Parts that the trace explains',
    table({
      name: 'balances',
      label: 'Changes of the kernel’s counters, and the parts that the trace explains',
      short: true,
      rows: timeline.balances,
      columns: [
        {
          key: 'name',
          title: 'Line',
          isText: true,
          isCode: true,
          value: (row) => row.name,
          text: (row) => printable(row.name),
        },
        {
          key: 'change',
          title: 'Changed by',
          value: (row) => row.last_bytes - row.first_bytes,
          text: (row) => signed(row.last_bytes - row.first_bytes, bytes),
        },
        {
          key: 'explained',
          title: 'Explained',
          value: (row) => row.explained_bytes,
          text: (row) => signed(row.explained_bytes, bytes),
        },
        {
          key: 'how',
          title: 'By',
          isText: true,
          width: 60,
          wraps: true,
          value: (row) => row.explained,
          text: (row) => printable(row.explained),
        },
      ],
      empty: 'Nothing to compare.',
    }),
  );
}
