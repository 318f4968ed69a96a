// SPDX-License-Identifier: GPL-2.0-or-later
// The page about memory that is live at the end, and whether it grows.
import type { App } from '../app';
import { allocatorNumber, kAllocators } from '../data/allocators';
import type { LeakRow, Leaks } from '../data/document';
import { onlyBy } from '../data/filter';
import { processName, rankLeaks, unclearText } from '../data/leaks';
import { keyName } from '../data/rows';
import { bytes, count, duration, numberOf, percent, printable } from '../text';
import { empty, note, section } from '../widgets/controls';
import { css } from '../widgets/colors';
import { el } from '../widgets/dom';
import { plot } from '../widgets/plot';
import { sparkline } from '../widgets/spark';
import { table } from '../widgets/table';
import { allocatorColumn, nameColumn } from './common';

const kReasons: Record<string, string> = {
  'frees-not-recorded': 'frees were not recorded',
  'tasks-selected': 'only some tasks were recorded',
  'lost-stretch': 'may be freed in events that were lost',
  'incomplete-trace': 'the trace is incomplete',
  reallocated: 'objects are often freed without an event: their addresses are reused',
  'untraced-path': 'may be freed on a path without tracepoint',
  'older-freed': 'older objects of the same kind were freed at the same rate',
  'page-tables': 'page tables grow with the memory of processes',
  'slab-pages': 'pages of slabs, whose objects count',
  reclaimable: 'the kernel frees it when it needs memory',
  tracing: 'another tracing tool uses it',
};

interface Leak extends LeakRow {
  allocator: number;
  name: string;
  rank: number;
}

function nameOf(row: LeakRow): string {
  const words = Object.entries(row.keys ?? {})
    .filter(([key, value]) => value !== null && key !== 'stack')
    .map(([key, value]) => (key === 'order' ? `order ${keyName(value)}` : keyName(value)));
  return words.length > 0 ? words.join(', ') : 'all';
}

function known(series: (number | null)[] | null): number[] {
  return (series ?? []).map((value) => value ?? 0);
}

function doubts(row: LeakRow): string {
  return row.uncertain.map((doubt) => kReasons[doubt.reason] ?? doubt.reason).join('; ');
}

function stack(row: LeakRow): HTMLElement | null {
  const frames = row.keys?.['stack'];
  if (!Array.isArray(frames) || frames.length === 0) return null;
  return el('pre', { class: 'stack' }, frames.map((frame) => printable(keyName(frame))).join('\n'));
}

function holders(row: LeakRow): HTMLElement {
  const named = row.processes ?? [];
  const others = (row.processes_in_all ?? named.length) - named.length;
  return el(
    'ul',
    { 'aria-label': 'Processes that allocated this memory' },
    ...named.map((one) =>
      el(
        'li',
        {},
        `${printable(processName(one.process))}: ${bytes(one.live_bytes)} in ${numberOf(one.live_allocations, 'live allocation')}`,
      ),
    ),
    others > 0 && el('li', {}, numberOf(others, 'more process', 'more processes')),
  );
}

// A note for reports with an investigation: the verdict of the investigation is more reliable than that of its
// recording.
function verdictOfInvestigation(app: App): HTMLElement | null {
  if (!app.document.investigation) return null;
  return note('Only the recording is judged here. The verdict of the whole investigation is on the page “Findings”.');
}

function details(app: App, row: Leak, leaks: Leaks): HTMLElement {
  const { start_ns } = app.model().explore;
  const series = known(row.series);
  const offset = leaks.start_ns - start_ns;
  const times = series.map((_, at) => (offset + (at + 1) * leaks.bucket_ns) / 1e9);
  const growth = row.growth;
  const { from, to } = app.times;
  return section(
    `Growth of ${printable(row.name)}`,
    el('p', { class: 'lead' }, `${printable(row.verdict)}: ${leaks.verdicts[row.verdict]}.`),
    series.length > 0
      ? plot({
          label: `Live bytes of ${printable(row.name)} over time`,
          times,
          lines: [{ name: 'live', color: css(`--${kAllocators[row.allocator]}`), values: series }],
          stacked: true,
          from: from / 1e9,
          to: to / 1e9,
          brush: (a, b) => app.setTimes(start_ns + a * 1e9, start_ns + b * 1e9),
          height: 170,
        })
      : empty('The traced kernel does not report these bytes.'),
    stack(row),
    (row.processes ?? []).length > 0 && holders(row),
    growth &&
      note(
        `${bytes(growth.bytes_per_s)} per second, from ${bytes(growth.low)} to ${bytes(growth.high)} with 95 % confidence; ${bytes(growth.late_bytes_per_s)} per second in the last half.`,
      ),
    row.uncertain.length > 0 &&
      el(
        'ul',
        {},
        ...row.uncertain.map((doubt) =>
          el(
            'li',
            {},
            `${count(doubt.allocations)} live allocations, ${bytes(doubt.bytes)}: ${kReasons[doubt.reason] ?? printable(doubt.reason)}`,
          ),
        ),
      ),
    row.untraced_path !== null && note(printable(row.untraced_path)),
  );
}

// Explains the verdicts in the table.
function meanings(rows: Leak[], verdicts: Record<string, string>): HTMLElement {
  const given = Object.entries(verdicts).filter(([verdict]) => rows.some((row) => row.verdict === verdict));
  return el(
    'dl',
    { class: 'meanings' },
    ...given.flatMap(([verdict, sentence]) => [
      el('dt', { class: `verdict ${verdict}` }, verdict),
      el('dd', {}, printable(sentence)),
    ]),
  );
}

export function leaksPage(app: App): HTMLElement {
  const { leaks } = app.trace;
  if (!leaks) return empty('The report was written without leaks.');
  const rows = kAllocators
    .filter((name) => app.state.filter.allocator === null || app.state.filter.allocator === name)
    .flatMap((name) =>
      (leaks.groups[name]?.rows ?? []).map((row) => ({
        ...row,
        allocator: allocatorNumber(name),
        name: nameOf(row),
        rank: 0,
      })),
    );
  rankLeaks(rows, Object.keys(leaks.verdicts));
  const { site } = app.state.filter;
  const shown =
    site === null ? rows : rows.filter((row) => Object.values(row.keys ?? {}).some((value) => keyName(value) === site));
  const total = Object.values(leaks.groups).reduce((sum, groups) => sum + groups.total, 0);
  const below = el('div', { 'aria-live': 'polite' });
  const show = (row: Leak): void => {
    below.replaceChildren(details(app, row, leaks));
    below.scrollIntoView({ block: 'nearest' });
  };
  if (shown[0]) below.replaceChildren(details(app, shown[0], leaks));
  return el(
    'div',
    {},
    el(
      'p',
      { class: 'lead' },
      leaks.found ? 'Something grows for certain.' : (unclearText(leaks) ?? 'Nothing grows for certain.'),
      ` ${numberOf(leaks.judged, 'group was', 'groups were')} judged against ${bytes(leaks.threshold_bytes_per_s)} per second.`,
    ),
    verdictOfInvestigation(app),
    leaks.cut_at_ns !== null &&
      note('The file was cut off. Growth is judged until the first CPU ends; later events may be missing.'),
    !onlyBy(app.state.filter, 'allocator', 'site') &&
      note('Growth is judged by caller over the whole time, so filters of time, module, cache and task do not apply.'),
    total > rows.length &&
      app.state.filter.allocator === null &&
      note(`Not in this file: ${numberOf(total - rows.length, 'more group')} with live allocations.`),
    meanings(shown, leaks.verdicts),
    table<Leak>({
      name: 'leaks',
      label: 'Live at the end',
      rows: shown,
      columns: [
        { key: 'rank', title: '#', width: 5, value: (row) => row.rank, text: (row) => String(row.rank) },
        nameColumn('Caller'),
        allocatorColumn(),
        {
          key: 'verdict',
          title: 'Verdict',
          isText: true,
          width: 13,
          value: (row) => row.verdict,
          text: (row) => row.verdict,
          node: (row) =>
            el('span', { class: `verdict ${row.verdict}`, title: leaks.verdicts[row.verdict] }, printable(row.verdict)),
        },
        {
          key: 'series',
          title: 'Live over time',
          width: 14,
          value: (row) => row.rank,
          text: () => '',
          node: (row) => sparkline(known(row.series), `Live bytes of ${printable(row.name)} over time`),
        },
        {
          key: 'growth',
          title: 'Growth/s',
          help: 'median of the slopes',
          value: (row) => row.growth?.bytes_per_s ?? null,
          text: (row) => bytes(row.growth?.bytes_per_s),
        },
        {
          key: 'certain_growth',
          title: 'For certain',
          help: 'growth without objects that may have been freed',
          value: (row) => row.certain_growth?.bytes_per_s ?? null,
          text: (row) => bytes(row.certain_growth?.bytes_per_s),
        },
        {
          key: 'low',
          title: 'At least',
          help: 'lower end of the 95 % interval',
          value: (row) => row.growth?.low ?? null,
          text: (row) => bytes(row.growth?.low),
        },
        {
          key: 'high',
          title: 'At most',
          help: 'upper end of the 95 % interval',
          value: (row) => row.growth?.high ?? null,
          text: (row) => bytes(row.growth?.high),
        },
        {
          key: 'confidence',
          title: 'Confidence',
          value: (row) => row.growth?.confidence ?? null,
          text: (row) => percent(row.growth ? 100 * row.growth.confidence : null),
        },
        {
          key: 'live',
          title: 'Live',
          value: (row) => row.live_allocations,
          text: (row) => count(row.live_allocations),
        },
        {
          key: 'live-bytes',
          title: 'Live bytes',
          value: (row) => row.live_bytes,
          text: (row) => bytes(row.live_bytes),
        },
        {
          key: 'certain',
          title: 'Certain',
          help: 'live bytes without uncertain objects',
          value: (row) => row.certain_bytes,
          text: (row) => bytes(row.certain_bytes),
        },
        {
          key: 'doubt',
          title: 'In doubt',
          help: 'number that may have been freed',
          value: (row) => row.uncertain_bytes,
          text: (row) => bytes(row.uncertain_bytes),
        },
        {
          key: 'oldest',
          title: 'Oldest',
          value: (row) => row.age.oldest_ns,
          text: (row) => duration(row.age.oldest_ns),
        },
        { key: 'why', title: 'Doubt', isText: true, width: 60, value: doubts, text: doubts },
      ],
      sort: 'rank',
      filterText: (row) => `${printable(row.name)} ${row.verdict}`,
      activate: show,
      activateHelp: 'Shows the growth below',
      empty:
        rows.length > 0
          ? 'No group is left by the filters.'
          : 'No memory that was allocated in the trace is live at its end.',
    }),
    below,
  );
}
