// SPDX-License-Identifier: GPL-2.0-or-later
// Parts that are used on several pages.
import type { App } from '../app';
import { kAllocators, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName } from '../data/document';
import { kDimensions, kDimensionTitles, type Dimension } from '../data/filter';
import { bytes, count, printable } from '../text';
import { note, segmented, textField, type Choice } from '../widgets/controls';
import { el } from '../widgets/dom';
import type { Column } from '../widgets/table';

export function badge(allocator: number): HTMLElement {
  const name = kAllocators[allocator];
  return el('span', { class: `badge ${name}` }, kAllocatorTitles[name]);
}

// A column for names of kernel functions or caches.
export function nameColumn<R extends { name: string }>(title: string): Column<R> {
  return {
    key: 'name',
    title,
    isText: true,
    isCode: true,
    value: (row) => row.name,
    text: (row) => printable(row.name),
  };
}

export function allocatorColumn<R extends { allocator: number }>(): Column<R> {
  return {
    key: 'allocator',
    title: 'Allocator',
    isText: true,
    width: 11,
    value: (row) => kAllocators[row.allocator],
    text: (row) => kAllocatorTitles[kAllocators[row.allocator]],
    node: (row) => badge(row.allocator),
  };
}

// Makes a search field that marks functions in a flame graph, and a text about the result. find() marks the functions
// and returns the text. A page that is redrawn calls find() again.
export function functionSearch(
  options: { search: string },
  find: (text: string) => { text: string; sum: number } | null,
): HTMLElement[] {
  const result = el('span', { class: 'counted', role: 'status' });
  const search = (text: string): void => {
    options.search = text;
    const found = find(text.toLowerCase());
    result.textContent = found?.text ?? '';
    if (found) result.dataset['value'] = String(found.sum);
    else delete result.dataset['value'];
  };
  if (options.search !== '') search(options.search);
  return [textField('flame-search', 'Search functions', options.search, search, true), result];
}

// A name that sets a filter when it is clicked.
export function filterLink(app: App, dimension: Dimension, text: string): HTMLElement {
  return el(
    'button',
    {
      type: 'button',
      class: 'link',
      title: `Show only this ${kDimensionTitles[dimension].toLowerCase()}`,
      click: (event: MouseEvent) => {
        event.stopPropagation();
        app.filterBy(dimension, text);
      },
    },
    printable(text),
  );
}

// Returns the allocators that have events in this trace.
export function presentAllocators(app: App): AllocatorName[] {
  const { report } = app.trace;
  return kAllocators.filter((name) => {
    const totals = report[name];
    return totals.allocations > 0 || totals.frees > 0 || totals.failed_allocations > 0;
  });
}

export function allocatorChoices(app: App): Choice<AllocatorName>[] {
  return presentAllocators(app).map((value) => ({ value, title: kAllocatorTitles[value] }));
}

// A control that selects one allocator or all of them. The selection filters all pages. `name` distinguishes the
// control from those of other pages.
export function allocatorControl(app: App, name: string): HTMLElement | null {
  const choices = allocatorChoices(app);
  if (choices.length < 2 && app.state.filter.allocator === null) return null;
  return segmented(
    name,
    'Allocator',
    [{ value: '', title: 'All' }, ...choices],
    app.state.filter.allocator ?? '',
    (chosen) => app.filterBy('allocator', chosen === '' ? null : chosen),
  );
}

// The amount that the colours of a page's heat map show.
export type Weight = 'frees' | 'bytes';

export function weightControl(app: App, options: { weight: Weight }): HTMLElement | null {
  return segmented<Weight>(
    'weight',
    'Show',
    [
      { value: 'frees', title: 'Frees' },
      { value: 'bytes', title: 'Bytes' },
    ],
    options.weight,
    (weight) => {
      options.weight = weight;
      app.redraw();
    },
  );
}

// Returns the reason why the current page has no allocation to show.
export function nothingLeft(app: App): string {
  return app.isFiltered ? 'No allocation is left by the filters.' : 'The trace has no such allocation.';
}

// Returns the allocator for a page that has room for only one. This is the allocator of the filter, else the one that
// the user chose, else slab. If slab has no events, it is the first allocator that has events.
export function oneAllocator(app: App, chosen: AllocatorName | null): AllocatorName {
  const present = presentAllocators(app);
  const filtered = app.state.filter.allocator as AllocatorName | null;
  if (filtered !== null && kAllocators.includes(filtered)) return filtered;
  if (chosen !== null && present.includes(chosen)) return chosen;
  return present.includes('slab') ? 'slab' : (present[0] ?? 'slab');
}

// A note that names the filters which the page cannot apply, because the report lacks the data.
export function notFollowed(app: App, followed: (Dimension | 'range')[]): HTMLElement | null {
  const { filter } = app.state;
  const names = kDimensions
    .filter((dimension) => filter[dimension] !== null && !followed.includes(dimension))
    .map((dimension) => kDimensionTitles[dimension].toLowerCase());
  if (filter.range !== null && !followed.includes('range')) names.unshift('time');
  if (names.length === 0) return null;
  return note(`Not filtered here by ${names.join(', ')}: the report lacks the necessary counts.`);
}

export function leftOutNote(app: App): HTMLElement | null {
  const { left_out } = app.trace.explore;
  if (left_out.groups === 0) return null;
  return note(
    `${count(left_out.groups)} small groups (${bytes(left_out.bytes_allocated)} allocated) are merged as (others).`,
  );
}

export const kUpperBound = '≤: at most this much, because some frees have no event';

// A note that live values on the page are upper bounds.
export function upperBoundNote(isNeeded: boolean): HTMLElement | null {
  if (!isNeeded) return null;
  return note('“≤” marks an upper bound of live memory: some frees of this memory have no event.');
}
