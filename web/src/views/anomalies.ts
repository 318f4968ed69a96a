// SPDX-License-Identifier: GPL-2.0-or-later
// The page with events that contradict each other, such as two frees of one object.
import type { App } from '../app';
import { allocatorNumber } from '../data/allocators';
import type { Address, AnomalySite } from '../data/document';
import { clock, count, printable } from '../text';
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

export function anomaliesPage(app: App): HTMLElement {
  const { report } = app.trace;
  const { filter } = app.state;
  const kinds = Object.entries(report.anomalies);
  const rows = report.anomaly_sites.filter(
    (row) =>
      (filter.allocator === null || row.allocator === filter.allocator) &&
      (filter.cache === null || row.cache === filter.cache) &&
      (filter.site === null || row.first?.symbol === filter.site || row.second?.symbol === filter.site),
  );
  if (kinds.length === 0 && report.anomaly_sites.length === 0)
    return empty(
      report.findings.length > 0
        ? 'The events have no anomalies. The overview shows the problems of the trace itself.'
        : 'The events have no anomalies.',
    );
  const first = report.trace.first_ns;
  return el(
    'div',
    {},
    section(
      'Kinds',
      table({
        name: 'kinds',
        label: 'Anomalies by kind',
        short: true,
        rows: kinds,
        columns: [
          { key: 'kind', title: 'Kind', isText: true, value: ([kind]) => kind, text: ([kind]) => words(kind) },
          { key: 'count', title: 'Count', value: ([, number]) => number, text: ([, number]) => count(number) },
          {
            key: 'meaning',
            title: 'Meaning',
            isText: true,
            width: 80,
            value: ([kind]) => kKinds[kind] ?? '',
            text: ([kind]) => kKinds[kind] ?? '',
          },
        ],
        empty: 'None.',
      }),
    ),
    section(
      'By call sites',
      (filter.range !== null || filter.module !== null || filter.task !== null) &&
        note('Anomalies are shown for the whole time, all modules and all tasks. Filters of these do not apply.'),
      table({
        name: 'anomalies',
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
        empty: 'No anomaly is left by the filters.',
      }),
    ),
  );
}
