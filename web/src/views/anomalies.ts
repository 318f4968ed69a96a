// SPDX-License-Identifier: GPL-2.0-or-later
// The page with events that contradict each other, such as two frees of one object.
import type { App } from '../app';
import { allocatorNumber } from '../data/allocators';
import type { Address, AnomalySite, Report } from '../data/document';
import { clock, count, percent, printable } from '../text';
import { empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { table, type Column } from '../widgets/table';
import { badge, filterLink } from './common';

const kKinds: Record<string, string> = {
  allocated_before_trace: 'a free of an object that was not allocated or freed earlier in the trace',
  double_free_or_untraced_allocation:
    'a free of an object that was already freed; the allocation between the frees was not traced (usually bulk allocation)',
  pages_freed_twice:
    'a free of pages that were already freed; the allocation between the frees was not traced, or it is a double free',
  allocation_on_live_pointer: 'an allocation at an address that is live: its free was not traced, or was lost',
  allocated_less_than_requested: 'an allocation of fewer bytes than requested',
  freed_by_another_family: 'a kmalloc object freed by kmem_cache_free, or vice versa',
  freed_by_another_cache: 'an object freed to a different slab cache',
  impossible_order: 'a page event has an order that no kernel allocates',
  failed_allocation: 'a failed allocation',
};

function words(kind: string): string {
  return printable(kind.replace(/_/g, ' '));
}

function site(app: App, key: 'first' | 'second', title: string, help: string): Column<AnomalySite> {
  const address = (row: AnomalySite): Address | null => row[key];
  return {
    key,
    title,
    help,
    isText: true,
    isCode: true,
    value: (row) => address(row)?.symbol ?? '',
    text: (row) => printable(address(row)?.symbol ?? '–'),
    node: (row) => {
      const found = address(row);
      return found ? filterLink(app, 'site', found.symbol) : document.createTextNode('–');
    },
  };
}

interface Kind {
  kind: string;
  count: number;
  explained: number;
}

// Returns the kinds of anomalies, those with most unexplained anomalies first.
function kindsOf({ anomalies, explained_anomalies: explained }: Report): Kind[] {
  const known: Record<string, number> = {
    allocated_before_trace: explained.older_frees,
    allocation_on_live_pointer: explained.untraced_frees,
    double_free_or_untraced_allocation: explained.untraced_allocations,
  };
  const kinds = Object.entries(anomalies).map(([kind, number]) => ({
    kind,
    count: number,
    explained: Math.min(number, known[kind] ?? 0),
  }));
  return kinds.sort((a, b) => b.count - b.explained - (a.count - a.explained));
}

function kindsTable(report: Report): HTMLElement {
  return table({
    name: 'kinds',
    label: 'Anomalies by kind',
    short: true,
    rows: kindsOf(report),
    columns: [
      { key: 'kind', title: 'Kind', isText: true, value: (row) => row.kind, text: (row) => words(row.kind) },
      {
        key: 'unexplained',
        title: 'Unexplained',
        value: (row) => row.count - row.explained,
        text: (row) => count(row.count - row.explained),
      },
      {
        key: 'explained',
        title: 'Explained',
        help: 'the cause is known: the object is older than the trace, or the kernel has no event on this path',
        value: (row) => row.explained,
        text: (row) => count(row.explained),
      },
      { key: 'count', title: 'Count', value: (row) => row.count, text: (row) => count(row.count) },
      {
        key: 'meaning',
        title: 'Meaning',
        isText: true,
        wraps: true,
        width: 60,
        value: (row) => kKinds[row.kind] ?? '',
        text: (row) => kKinds[row.kind] ?? '',
      },
    ],
    empty: 'None.',
  });
}

function sitesTable(app: App, name: string, rows: AnomalySite[], nothing: string): HTMLElement {
  const first = app.trace.report.trace.first_ns;
  return table({
    name,
    label: 'Anomalies by call sites',
    rows,
    columns: [
      { key: 'kind', title: 'Kind', isText: true, value: (row) => row.kind, text: (row) => words(row.kind) },
      {
        key: 'allocator',
        title: 'Allocator',
        isText: true,
        width: 11,
        value: (row) => row.allocator,
        text: () => '',
        node: (row) => badge(allocatorNumber(row.allocator)),
      },
      { key: 'count', title: 'Count', value: (row) => row.count, text: (row) => count(row.count) },
      site(app, 'first', 'Earlier', 'call site of the earlier event, which is a free or an allocation'),
      site(app, 'second', 'Seen at', 'call site of the event at which it was seen'),
      {
        key: 'cache',
        title: 'Cache',
        isText: true,
        isCode: true,
        value: (row) => row.cache,
        text: (row) => printable(row.cache ?? '–'),
      },
      { key: 'from', title: 'First', value: (row) => row.first_ns, text: (row) => clock(row.first_ns - first) },
      { key: 'to', title: 'Last', value: (row) => row.last_ns, text: (row) => clock(row.last_ns - first) },
    ],
    sort: '-count',
    filterText: (row) =>
      printable(`${words(row.kind)} ${row.first?.symbol ?? ''} ${row.second?.symbol ?? ''} ${row.cache ?? ''}`),
    empty: nothing,
  });
}

function explainedNote({ explained_anomalies: of }: Report): HTMLElement {
  const sum = of.older_frees + of.untraced_frees + of.untraced_allocations + of.recorder_frees;
  return note(
    `${percent((100 * sum) / (of.of_events || 1))} of allocations and frees are explained anomalies. Their cause is known: the object is older than the trace, the kernel allocated or freed it on a path without an event, or the recorder freed its own memory. They are no sign of an error.`,
  );
}

export function anomaliesPage(app: App): HTMLElement {
  const { report } = app.trace;
  const { filter } = app.state;
  const rows = report.anomaly_sites.filter(
    (row) =>
      (filter.allocator === null || row.allocator === filter.allocator) &&
      (filter.cache === null || row.cache === filter.cache) &&
      (filter.site === null || row.first?.symbol === filter.site || row.second?.symbol === filter.site),
  );
  if (Object.keys(report.anomalies).length === 0 && report.anomaly_sites.length === 0)
    return empty(
      report.findings.length > 0
        ? 'The events have no anomalies. The overview shows the problems of the trace itself.'
        : 'The events have no anomalies.',
    );
  const explained = rows.filter((row) => row.explained);
  return el(
    'div',
    {},
    section('Kinds', kindsTable(report)),
    section(
      'Unexplained, by call sites',
      (filter.range !== null || filter.module !== null || filter.task !== null) &&
        note('Anomalies are shown for the whole time, all modules and all tasks. Filters of these do not apply.'),
      sitesTable(
        app,
        'anomalies',
        rows.filter((row) => !row.explained),
        'No unexplained anomaly.',
      ),
    ),
    explained.length > 0 &&
      section(
        'Explained, by call sites',
        explainedNote(report),
        sitesTable(app, 'explained-anomalies', explained, 'None.'),
      ),
  );
}
