// SPDX-License-Identifier: GPL-2.0-or-later
// The most important results, in this order: growth, waste, churn. Each is a sentence with a link to its numbers.
import type { App } from '../app';
import { kAllocators } from '../data/allocators';
import type { LeakRow, Leaks } from '../data/document';
import { filtersGroups } from '../data/filter';
import { growthOf, processName, unclearText } from '../data/leaks';
import { keyName, tableRows, type Row } from '../data/rows';
import type { Page } from '../state';
import { bytes, count, duration, numberOf, percent, printable } from '../text';
import { empty, note } from '../widgets/controls';
import { el } from '../widgets/dom';

type Kind = 'growth' | 'waste' | 'churn';

function item(kind: Kind, ...sentence: (Node | string)[]): HTMLElement {
  return el('li', { 'data-kind': kind }, ...sentence);
}

// A link to a page. If `site` is given, the page shows only this call site.
function link(app: App, text: string, page: Page, site?: string): HTMLElement {
  const filter = site === undefined ? app.state.filter : { ...app.state.filter, site };
  return el(
    'button',
    { type: 'button', class: 'link', title: 'Show the numbers', click: () => app.set({ page, filter }) },
    printable(text),
  );
}

function linkToGroup(app: App, row: LeakRow): HTMLElement {
  const key = (name: string): string | null => {
    const value = row.keys?.[name] ?? null;
    return value === null ? null : keyName(value);
  };
  const site = key('caller') ?? key('call-site');
  if (site !== null) return link(app, site, 'leaks', site);
  const order = key('order');
  return link(app, order === null ? 'memory' : `pages of order ${order}`, 'leaks');
}

function holders(row: LeakRow): string {
  const first = row.processes?.at(0);
  if (!first) return '';
  const by = `allocated by ${printable(processName(first.process))}`;
  if (row.processes_in_all === 1 || row.live_bytes === null) return `, ${by}`;
  return `, ${percent((100 * first.live_bytes) / row.live_bytes)} of this ${by}`;
}

function growth(app: App, leaks: Leaks): HTMLElement {
  const found = growthOf(leaks);
  const { row } = found;
  if (row === null) {
    const sentence =
      unclearText(leaks) ??
      'No group of allocations grows above the threshold, except reclaimable or otherwise explained memory.';
    return item('growth', `${sentence} `, link(app, 'Show memory that is live at the end', 'leaks'));
  }
  const certain = row.verdict === 'certain';
  const rate = `${bytes((certain ? row.certain_growth : row.growth)?.bytes_per_s)} per second`;
  const live = `${bytes(row.live_bytes)} live at the end${holders(row)}.`;
  const others = found.groups - 1;
  const more = others > 0 ? ` ${numberOf(others, 'more group has', 'more groups have')} the same verdict.` : '';
  const words = certain
    ? ` grows for certain by ${rate}: ${live}`
    : ` may grow by ${rate}, but is not certain to (${printable(row.verdict)}): ${live}`;
  return item('growth', linkToGroup(app, row), words, more);
}

// In a report with an investigation, use its verdict: it is based on more data than the recording.
function growthFound(app: App): HTMLElement | null {
  const { investigation } = app.document;
  if (investigation)
    return item('growth', `${printable(investigation.words)} `, link(app, 'Show the findings', 'findings'));
  return app.trace.leaks && growth(app, app.trace.leaks);
}

function most(rows: Row[], of: (row: Row) => number | null): Row | undefined {
  return rows
    .slice()
    .sort((a, b) => (of(b) ?? 0) - (of(a) ?? 0))
    .at(0);
}

function waste(app: App, rows: Row[]): HTMLElement | null {
  const row = most(rows, (one) => one.wasted);
  if (!row?.wasted) return null;
  const share = percent((100 * row.wasted) / (row.allocated ?? 1));
  return item(
    'waste',
    link(app, row.name, 'waste', row.name),
    ` wastes most: ${bytes(row.wasted)}, ${share} of its allocated bytes.`,
  );
}

function churn(app: App, rows: Row[], ns: number): HTMLElement | null {
  const row = most(rows, (one) => one.frees);
  if (!row?.frees) return null;
  const rate = ns > 0 ? `, ${count((row.hits * 1e9) / ns)} per second` : '';
  const life = row.meanLife === null ? '' : `; they live ${duration(row.meanLife)} on average`;
  const peak = row.peak === null ? '' : `, and at most ${bytes(row.peak)} are live at a time`;
  return item(
    'churn',
    link(app, row.name, 'lifetimes', row.name),
    ` allocates and frees most: ${count(row.hits)} allocations${rate}${life}${peak}.`,
  );
}

export function standingOut(app: App): HTMLElement {
  const { filter } = app.state;
  const filtered = filter.range !== null || filtersGroups(filter);
  const { rows } = tableRows(app.model(), 'site', filter);
  const named = rows.filter((row) => row.name !== '(others)' && row.name !== 'unknown');
  // Prefer slab objects. Pages that other allocators request are in the table too, but the call sites of these
  // allocators are more informative.
  const slab = named.filter((row) => kAllocators[row.allocator] === 'slab');
  const known = slab.length > 0 ? slab : named;
  const { from, to } = app.times;
  const ns = filter.range ? to - from : app.trace.report.trace.recorded_ns;
  // Growth is only known for the whole trace, not for a part of the time.
  const items = [filtered ? null : growthFound(app), waste(app, known), churn(app, known, ns)];
  const shown = items.filter((one) => one !== null);
  if (shown.length === 0)
    return empty(filtered ? 'No allocation matches the filters.' : 'The trace has no allocations.');
  return el(
    'div',
    {},
    el('ul', { class: 'lead' }, ...shown),
    app.document.investigation && note('Waste and churn are those of the recording.'),
  );
}
