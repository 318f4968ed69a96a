// SPDX-License-Identifier: GPL-2.0-or-later
// The page with totals, notable results, and the trace's reliability.
import type { App } from '../app';
import { allocatorNumber, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName, Finding } from '../data/document';
import { filtersGroups } from '../data/filter';
import { hasMemory, rangeOf, selectedGroups } from '../data/model';
import { knowsBytes, tableRows } from '../data/rows';
import { listOf, sumGroups } from '../data/sums';
import { isUpperBound } from '../data/unseen_frees';
import { atMost, bytes, clock, count, duration, printable } from '../text';
import { empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { table, type Column } from '../widgets/table';
import { badge, kUpperBound, nothingLeft, presentAllocators, upperBoundNote } from './common';
import { standingOut } from './standing_out';
import { rowColumns } from './tables';

const kMostCpus = 16;

interface TotalsRow {
  allocator: AllocatorName;
  allocations: number;
  frees: number;
  freeEvents: number | null;
  failed: number | null;
  requested: number | null;
  allocated: number | null;
  wasted: number | null;
  live: number | null;
  liveIsAtMost: boolean;
  peak: number | null;
  peakAt: number | null;
  meanLife: number | null;
}

function totals(app: App): TotalsRow[] {
  const { filter } = app.state;
  const model = app.model();
  const present = presentAllocators(app);
  const groupsOf = (allocator: AllocatorName): number[] => listOf(selectedGroups(model, { ...filter, allocator }));
  if (filter.range === null && !filtersGroups(filter))
    return present.map((allocator) => {
      const sums = app.trace.report[allocator];
      const requested = sums.bytes_requested ?? null;
      const slab = allocator === 'slab' && sums.bytes_allocated !== null && requested !== null;
      return {
        allocator,
        allocations: sums.allocations,
        frees: sums.matched_frees ?? sums.lifetime.count,
        freeEvents: sums.frees,
        failed: sums.failed_allocations,
        requested,
        allocated: sums.bytes_allocated,
        wasted: slab ? (sums.bytes_allocated ?? 0) - requested : null,
        live: sums.live_bytes,
        liveIsAtMost: isUpperBound(model, groupsOf(allocator), sums.live_bytes),
        peak: sums.peak_bytes,
        peakAt: sums.peak_ns !== null && sums.peak_bytes ? sums.peak_ns - app.trace.report.trace.first_ns : null,
        meanLife: sums.lifetime.count > 0 ? sums.lifetime.mean_ns : null,
      };
    });
  const range = rangeOf(model, filter);
  return present
    .filter((allocator) => filter.allocator === null || filter.allocator === allocator)
    .map((allocator) => {
      const groups = groupsOf(allocator);
      const sums = sumGroups(model, groups, range);
      const known = knowsBytes(model, allocatorNumber(allocator));
      return {
        allocator,
        allocations: sums.allocations,
        frees: sums.frees,
        freeEvents: null,
        failed: null,
        requested: sums.requested,
        allocated: known ? sums.allocated : null,
        wasted: allocator === 'slab' ? sums.wasted : null,
        live: known ? sums.live : null,
        liveIsAtMost: isUpperBound(model, groups, sums.live),
        peak: known ? sums.peak : null,
        peakAt: null,
        meanLife: null,
      };
    });
}

function totalsTable(app: App): HTMLElement {
  const column = (
    key: Exclude<keyof TotalsRow, 'liveIsAtMost'>,
    title: string,
    format: (value: number | null) => string,
    help?: string,
  ): Column<TotalsRow> => ({
    key,
    title,
    ...(help ? { help } : {}),
    value: (row) => row[key],
    text: (row) => format(row[key] as number | null),
  });
  return table({
    name: 'totals',
    label: 'Totals of each allocator',
    short: true,
    dense: true,
    rows: totals(app),
    columns: [
      {
        key: 'allocator',
        title: 'Allocator',
        isText: true,
        value: (row) => row.allocator,
        text: (row) => kAllocatorTitles[row.allocator],
        node: (row) => badge(allocatorNumber(row.allocator)),
      },
      column('allocations', 'Hits', count, 'allocations that succeeded'),
      column('frees', 'Frees', count, 'frees of memory that was allocated in the trace'),
      column('requested', 'Requested', bytes),
      column('allocated', 'Allocated', bytes),
      column('wasted', 'Wasted', bytes, 'bytes allocated beyond the request'),
      {
        ...column('live', 'Live bytes', bytes, `not freed at the end; ${kUpperBound}`),
        text: (row) => atMost(row.liveIsAtMost, bytes(row.live)),
      },
      column('peak', 'Peak', bytes, 'highest number of live bytes'),
      column('peakAt', 'Peak at', duration, 'since the first event'),
      column('meanLife', 'Mean life', duration),
      column('failed', 'Failed', count),
      column('freeEvents', 'Free events', count, 'all frees in the trace, including older objects'),
    ],
    activate: (row) => app.filterBy('allocator', app.state.filter.allocator === row.allocator ? null : row.allocator),
    activateHelp: 'Filters everything by this allocator; repeat it to remove the filter',
    empty: 'The trace has no allocations and no frees.',
  });
}

function loss(app: App): HTMLElement {
  const { trace } = app.trace.report;
  const per = trace.lost_per_cpu;
  const words: HTMLElement[] = [];
  if (trace.lost_events === 0 && !trace.loss_known)
    return note(
      'The number of lost events is unknown: the trace is damaged or cut off, or its format lacks the number.',
    );
  if (trace.lost_events === 0 && trace.loss_known) return note('No event was lost: all counts are complete.');
  words.push(
    note(
      `${count(trace.lost_events)} events were lost${trace.loss_known ? '' : ' according to the trace, and there may be more'}. ` +
        'An allocation whose free was lost looks live: live bytes, peaks and leaks are too high. Allocations in lost events are missing everywhere, and their frees look like frees of unknown objects.',
    ),
  );
  const losing = per.map((lost, cpu) => ({ lost, cpu })).filter((one) => one.lost > 0);
  losing.sort((a, b) => b.lost - a.lost);
  const shown = losing.slice(0, kMostCpus);
  const most = Math.max(1, ...shown.map((one) => one.lost));
  words.push(
    el(
      'ul',
      { class: 'losses', 'aria-label': 'Lost events of each CPU' },
      ...shown.map(({ lost, cpu }) => {
        const bar = el('span', { class: 'bar-fill' });
        bar.style.width = `${(100 * lost) / most}%`;
        return el(
          'li',
          { 'data-value': lost },
          el('span', { class: 'label' }, `CPU ${cpu}`),
          el('span', { class: 'bar-room' }, bar),
          el('span', { class: 'number' }, count(lost)),
        );
      }),
    ),
  );
  const others = losing.length - shown.length;
  if (others > 0) words.push(note(`${count(others)} other CPUs lost fewer events.`));
  if (losing.length > 0 && losing.length < per.length)
    words.push(note(`CPUs without lost events: ${count(per.length - losing.length)}.`));
  return el('div', {}, ...words);
}

function findings(list: Finding[]): HTMLElement {
  if (list.length === 0)
    return note('The trace has no damage. The page of anomalies shows events that contradict each other.');
  return el(
    'ul',
    { class: 'findings' },
    ...list.map((finding) =>
      el(
        'li',
        {},
        el('span', { class: `severity ${finding.severity}` }, finding.severity),
        el('span', {}, printable(finding.sentence)),
        el(
          'span',
          { class: 'number', 'data-value': finding.count, title: finding.kind },
          `×\u00a0${count(finding.count)}`,
        ),
      ),
    ),
  );
}

function machine(app: App): HTMLElement {
  const { trace } = app.trace.report;
  const facts: [string, string | null][] = [
    ['File', trace.path],
    ['Format', trace.format],
    ['Kernel', trace.kernel],
    ['Architecture', trace.arch === null ? null : `${trace.arch}, ${trace.word_bits} bit, ${trace.byte_order} endian`],
    ['CPUs', String(trace.cpus)],
    ['Page size', trace.page_size ? bytes(trace.page_size) : null],
    ['Clock', trace.clock],
    ['First event', `${clock(trace.first_ns)} of this clock`],
    ['Recorded', trace.recorded_at],
    ['Recorded for', duration(trace.recorded_ns)],
    ['Recorded by', trace.recorder_arguments],
    ['Kernel stacks', trace.stacks > 0 ? count(trace.stacks) : 'recorded without'],
  ];
  return el(
    'dl',
    { class: 'machine' },
    ...facts.flatMap(([name, value]) => [
      el('dt', {}, name),
      el('dd', {}, value === null ? 'not known' : printable(value)),
    ]),
  );
}

function eventsTable(app: App): HTMLElement {
  return table({
    name: 'events',
    label: 'Events by name',
    short: true,
    rows: Object.entries(app.trace.report.events).slice(0, 24),
    columns: [
      {
        key: 'event',
        title: 'Event',
        isText: true,
        isCode: true,
        value: ([name]) => name,
        text: ([name]) => printable(name),
      },
      { key: 'count', title: 'Count', value: ([, events]) => events, text: ([, events]) => count(events) },
    ],
    empty: 'The trace has no events.',
  });
}

function memoryTable(app: App): HTMLElement | null {
  const memory = app.trace.report.memory;
  if (!memory) return null;
  return section(
    'The kernel’s own account',
    note(`From ${count(memory.samples)} samples of /proc/meminfo during the recording.`),
    table({
      name: 'memory',
      label: 'Lines of meminfo',
      short: true,
      rows: Object.entries(memory.meminfo),
      columns: [
        {
          key: 'line',
          title: 'Line',
          isText: true,
          isCode: true,
          value: ([name]) => name,
          text: ([name]) => printable(name),
        },
        {
          key: 'first',
          title: 'First',
          value: ([, line]) => line.first_bytes,
          text: ([, line]) => bytes(line.first_bytes),
        },
        {
          key: 'last',
          title: 'Last',
          value: ([, line]) => line.last_bytes,
          text: ([, line]) => bytes(line.last_bytes),
        },
        {
          key: 'most',
          title: 'Most',
          value: ([, line]) => line.most_bytes,
          text: ([, line]) => bytes(line.most_bytes),
        },
      ],
      empty: 'No lines.',
    }),
  );
}

// Shows allocated and freed memory.
function memory(app: App): HTMLElement[] {
  const model = app.model();
  const { filter } = app.state;
  const sites = tableRows(model, 'site', filter);
  const top = sites.rows
    .slice()
    .sort((a, b) => (b.allocated ?? 0) - (a.allocated ?? 0))
    .slice(0, 12);
  const wanted = ['name', 'allocator', 'trend', 'hits', 'allocated', 'waste', 'live-bytes', 'peak'];
  return [
    section('What stands out', standingOut(app)),
    section(
      'Totals',
      app.isFiltered && note('Only memory that matches the filters; peaks are measured at the ends of time buckets.'),
      totalsTable(app),
      upperBoundNote(totals(app).some((row) => row.liveIsAtMost)),
      note(
        'Pages of the slab allocator, of percpu memory and of vmalloc areas are among the pages: never add these rows.',
      ),
    ),
    section(
      'Largest call sites',
      table({
        name: 'largest',
        label: 'Largest call sites',
        short: true,
        rows: top,
        sort: '-allocated',
        columns: rowColumns(model, 'site', 0, true).filter((column) => wanted.includes(column.key)),
        activate: (row) => app.filterBy('site', app.state.filter.site === row.name ? null : row.name),
        activateHelp: 'Filters everything by this call site',
        empty: nothingLeft(app),
      }),
    ),
  ];
}

export function overviewPage(app: App): HTMLElement {
  const { report } = app.trace;
  return el(
    'div',
    { class: 'overview' },
    !report.complete && note('Reading ended early; this page shows the part of the trace that was read.'),
    ...(hasMemory(app.trace)
      ? memory(app)
      : [empty('This trace has no memory events. “Events” below shows what was recorded.')]),
    el(
      'div',
      { class: 'columns' },
      section('Lost events', loss(app)),
      section('Findings', findings(report.findings)),
      section('Trace and machine', machine(app)),
      section('Events', eventsTable(app)),
      memoryTable(app),
    ),
  );
}
