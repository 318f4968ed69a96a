// SPDX-License-Identifier: GPL-2.0-or-later
// The page about calls of kernel functions, and the allocations inside them.
import type { App } from '../app';
import { allocatorNumber, kAllocators, kAllocatorTitles } from '../data/allocators';
import { argumentTexts, callText, remarks, resultText, shownCalls, type CallRow } from '../data/calls';
import type { AllocatorName, CalledFunction, Calls, Inside, InsideSum } from '../data/document';
import { bytes, clock, count, duration, printable } from '../text';
import { action, empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { table, type Column } from '../widgets/table';
import { badge, nameColumn, notFollowed } from './common';

const kIndent = 14; // indentation per level in pixels; must not exceed the width of two characters
const kMostRoom = 140; // maximum length of a call's text in characters; selecting the call shows the rest

interface Measured {
  inside: Inside;
}
interface Function extends CalledFunction {
  name: string;
}
interface Call extends CallRow, Measured {}

function failures(row: Measured): number {
  return Object.values(row.inside).reduce((sum, of) => sum + of.failed, 0);
}

// Returns columns for those allocators from which any call requested memory.
function insideColumns<Row extends Measured>(allocators: AllocatorName[], live: string): Column<Row>[] {
  const column = (
    name: AllocatorName,
    key: string,
    title: string,
    help: string,
    sum: keyof InsideSum,
  ): Column<Row> => ({
    key,
    title,
    help,
    value: (row) => row.inside[name]?.[sum] ?? null,
    text: (row) => {
      const value = row.inside[name]?.[sum];
      return value === undefined ? '' : sum === 'allocations' ? count(value) : bytes(value);
    },
  });
  return allocators.flatMap((name) => {
    const title = kAllocatorTitles[name];
    return [
      column(name, name, title, 'bytes allocated inside, including the calls that it made', 'bytes'),
      column(name, `${name}-hits`, 'Hits', `how many allocations: ${title}`, 'allocations'),
      column(name, `${name}-live`, `${title} live`, `bytes of those that are live ${live}`, 'live_bytes'),
    ];
  });
}

function failedColumns<Row extends Measured>(functions: CalledFunction[]): Column<Row>[] {
  if (!functions.some((row) => failures(row) > 0)) return [];
  return [
    {
      key: 'failed',
      title: 'Failed',
      help: 'failed allocations inside',
      value: failures,
      text: (row) => count(failures(row)),
    },
  ];
}

function functionTable(app: App, { graph }: Calls, allocators: AllocatorName[]): HTMLElement {
  const times: [string, string, string, (row: Function) => number | null][] = [
    ['total-time', 'Time', 'duration of its calls, from the first to the last instruction', (row) => row.total_ns],
    ['self-time', 'Self', 'duration without interrupts and without traced calls that it made', (row) => row.self_ns],
    ['longest', 'Longest', 'duration of the longest call', (row) => row.longest_ns],
  ];
  const counts: [string, string, string, (row: Function) => number][] = [
    [
      'cut-off',
      'Cut off',
      'calls whose start or end is not in the trace, so their duration is unknown',
      (row) => row.cut_off,
    ],
    ['lost', 'Lossy', 'calls during which events were lost', (row) => row.lost_events],
  ];
  return table<Function>({
    name: 'functions',
    label: 'Functions that were called',
    rows: graph.functions.map((row) => ({ ...row, name: row.function })),
    columns: [
      nameColumn('Function'),
      {
        key: 'calls',
        title: 'Calls',
        help: 'number of calls whose start is in the trace',
        value: (row) => row.calls,
        text: (row) => count(row.calls),
      },
      ...times.map(([key, title, help, value]) => ({
        key,
        title,
        help,
        value,
        text: (row: Function) => duration(value(row)),
      })),
      ...insideColumns<Function>(allocators, 'at the end of the trace'),
      ...failedColumns<Function>(graph.functions),
      ...counts.map(([key, title, help, value]) => ({
        key,
        title,
        help,
        value,
        text: (row: Function) => count(value(row)),
      })),
    ],
    sort: '-total-time',
    filterText: (row) => printable(row.name),
    activate: (row) => {
      app.set({ callsOf: row.name });
      document.querySelector('[data-table=calls]')?.scrollIntoView({ block: 'nearest' });
    },
    activateHelp: 'Shows its calls below',
    empty: 'No function was called.',
  });
}

function insideText(sum: InsideSum): string {
  const said = `${bytes(sum.bytes)} in ${count(sum.allocations)}, ${bytes(sum.live_bytes)} live in ${count(sum.live_allocations)}`;
  return sum.failed > 0 ? `${said}, ${count(sum.failed)} failed` : said;
}

function details(app: App, { call }: Call): HTMLElement {
  const facts: [string, string | HTMLElement][] = [
    ['Task', `${printable(call.task)}-${call.tid}`],
    ['CPU', call.cpu === call.end_cpu ? String(call.cpu) : `${call.cpu}, at its end ${call.end_cpu}`],
    ['Begin', clock(call.began_ns)],
    ['End', clock(call.ended_ns)],
    ['Duration', duration(call.duration_ns)],
    ...argumentTexts(call).map(([name, value]): [string, HTMLElement] => [
      printable(name),
      el('code', { 'data-argument': name }, printable(value)),
    ]),
  ];
  const result = resultText(call);
  if (result !== '') facts.push(['Result', el('code', {}, printable(result))]);
  const said = remarks(call);
  if (said.length > 0) facts.push(['Remarks', printable(said.join('; '))]);
  return section(
    `Call of ${printable(call.function)}`,
    el('dl', { class: 'machine' }, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    ...kAllocators.map((name) => {
      const sum = call.inside[name];
      return sum ? note(badge(allocatorNumber(name)), ` ${insideText(sum)}`) : null;
    }),
    app.state.callsOf !== call.function &&
      action('calls-of', `Only calls of ${printable(call.function)}`, () => app.set({ callsOf: call.function })),
  );
}

function callTable(app: App, calls: Calls, allocators: AllocatorName[]): HTMLElement {
  const { graph } = calls;
  const { callsOf, filter } = app.state;
  const start = app.trace.report.trace.first_ns;
  const first = filter.range ? app.model().explore.start_ns : 0;
  const times = filter.range && { from: first + app.times.from, to: first + app.times.to };
  const rows: Call[] = shownCalls(graph.calls, { function: callsOf, task: filter.task, times }).map((row) => ({
    ...row,
    inside: row.call.inside,
  }));
  const below = el('div', { 'aria-live': 'polite' });
  const text = (row: Call): string => printable(callText(row.call));
  const room = rows.reduce((most, row) => Math.max(most, text(row).length + 2 * row.depth), 0);
  return section(
    callsOf === null ? 'Calls' : `Calls of ${printable(callsOf)}, and what they called`,
    graph.calls.length < graph.calls_selected &&
      note(
        `This file has ${count(graph.calls.length)} of ${count(graph.calls_selected)} calls: the first ${count(calls.first)}, and the ${count(calls.slowest)} that took longest. kmemtrace graph shows all.`,
      ),
    table<Call>({
      name: 'calls',
      label: 'Calls in order of their start',
      rows,
      columns: [
        { key: 'order', title: '#', width: 6, value: (row) => row.order, text: (row) => String(row.order) },
        {
          key: 'begin',
          title: 'Begin',
          help: 'since the first event',
          width: 13,
          value: (row) => row.call.began_ns,
          text: (row) => clock(row.call.began_ns === null ? null : row.call.began_ns - start),
        },
        {
          key: 'cpu',
          title: 'CPU',
          help: 'CPU at the start, and at the end if different',
          width: 7,
          value: (row) => row.call.cpu,
          text: ({ call }) => (call.cpu === call.end_cpu ? String(call.cpu) : `${call.cpu}→${call.end_cpu}`),
        },
        {
          key: 'task',
          title: 'Task',
          isText: true,
          width: 18,
          value: ({ call }) => `${call.task}-${call.tid}`,
          text: ({ call }) => `${printable(call.task)}-${call.tid}`,
        },
        {
          key: 'duration',
          title: 'Duration',
          width: 11,
          value: (row) => row.call.duration_ns,
          text: (row) => duration(row.call.duration_ns),
        },
        {
          key: 'call',
          title: 'Call',
          isText: true,
          isCode: true,
          room: Math.min(kMostRoom, room + 1),
          value: (row) => callText(row.call),
          text,
          node: (row) => {
            const span = el('span', { class: row.call.interrupt === null ? '' : 'interrupt' }, text(row));
            span.style.paddingLeft = `${kIndent * row.depth}px`;
            return span;
          },
        },
        ...insideColumns<Call>(allocators, 'when it returned'),
        ...failedColumns<Call>(graph.functions),
        {
          key: 'remarks',
          title: 'Remarks',
          isText: true,
          width: 26,
          value: (row) => remarks(row.call).join('; '),
          text: (row) => printable(remarks(row.call).join('; ')),
          node: (row) =>
            el('span', { class: row.call.lost_events ? 'lossy' : '' }, printable(remarks(row.call).join('; '))),
        },
      ],
      sort: 'order',
      filterText: (row) => `${text(row)} ${printable(row.call.task)}-${row.call.tid}`,
      activate: (row) => {
        below.replaceChildren(details(app, row));
        below.scrollIntoView({ block: 'nearest' });
      },
      activateHelp: 'Shows the call below',
      empty:
        graph.calls.length === 0
          ? 'The trace has no such call.'
          : 'No call in this file matches the filters. kmemtrace graph -F FUNCTION shows all calls of a function.',
    }),
    below,
  );
}

// Returns a text such as "vfs_read, vfs_write and 3 more".
function firstOf(names: string[]): string {
  const most = 10;
  const more = names.length > most ? ` and ${count(names.length - most)} more` : '';
  return printable(names.slice(0, most).join(', ')) + more;
}

export function callsPage(app: App): HTMLElement {
  const { calls, report } = app.trace;
  if (!calls) return empty('The trace has no calls. ftrace’s function_graph can record them.');
  const { graph } = calls;
  const missing = graph.functions_total - graph.functions.length;
  const allocators = kAllocators.filter((name) => graph.functions.some((row) => row.inside[name]));
  const outside = kAllocators.filter((name) => graph.outside[name]);
  return el(
    'div',
    {},
    el(
      'p',
      { class: 'lead' },
      `${count(graph.calls_traced)} calls of ${count(graph.functions_total)} functions were traced. Memory allocated inside a call is the memory that its task allocated during the call, without interrupts.`,
    ),
    notFollowed(app, ['task', 'range']),
    calls.unfiltered === true &&
      note('Calls are those of the whole trace: of all options that select events, only --pid selects calls.'),
    graph.refused.length > 0 &&
      note(
        `These functions were not recorded, because the kernel did not allow it: ${firstOf(graph.refused.map((one) => one.function))}.`,
      ),
    graph.not_called.length > 0 &&
      note(`These functions were not called during the recording: ${firstOf(graph.not_called)}.`),
    (report.trace.lost_events > 0 || graph.missed.length > 0) &&
      note(
        'Events were lost, or calls were missed. Calls that ran at that time are marked; they may have called and allocated more than shown.',
      ),
    graph.arguments &&
      !graph.types &&
      note('The trace lacks the types of arguments. Use --btf with a file that has the types of its kernel.'),
    section(
      'Functions',
      (app.state.filter.task !== null || app.state.filter.range !== null) &&
        note('Sums by function are for all tasks and the whole time.'),
      missing > 0 && note(`${count(missing)} other functions, which took less time, are not in this file.`),
      functionTable(app, calls, allocators),
      ...outside.map((name) => {
        const sum = graph.outside[name];
        return sum ? note('In no traced call: ', badge(allocatorNumber(name)), ` ${insideText(sum)}`) : null;
      }),
    ),
    callTable(app, calls, allocators),
  );
}
