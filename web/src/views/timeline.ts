// SPDX-License-Identifier: GPL-2.0-or-later
// The page with live bytes and rates over time, and the kernel's own samples. A brush selects the time range for all
// pages.
import type { App } from '../app';
import { allocatorNumber, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName } from '../data/document';
import { filtersGroups, kDimensionTitles, type Dimension, type Range } from '../data/filter';
import { hasMemory, keyText, rangeOf, selectedGroups, type Model } from '../data/model';
import { knowsBytes } from '../data/rows';
import { allocatedSeries, fold, listOf, liveSeries, type Folded } from '../data/sums';
import { isUpperBound } from '../data/unseen_frees';
import { atMost, bytes, clock, printable } from '../text';
import { allocatorColor, css, seriesColors } from '../widgets/colors';
import { action, empty, note, section, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { plot } from '../widgets/plot';
import { scrollHint } from '../widgets/scroll_hint';
import {
  allocatorChoices,
  filterLink,
  kUpperBound,
  nothingLeft,
  notFollowed,
  oneAllocator,
  presentAllocators,
} from './common';
import { balances, samples } from './samples';
import { waitsSection } from './waits';
import { windowSection } from './window';

const kMost = 8;
const options: { by: Dimension; allocator: AllocatorName | null } = { by: 'site', allocator: null };

// One line in the plots.
interface Course {
  name: string;
  filter: string | null; // filter text for the key of the line; null if the line combines several keys
  color: string;
  values: Float64Array; // one for each bucket
  groups: number[]; // indices of the model's groups that this line combines
}

// The lines of the two plots.
interface Courses {
  live: Course[];
  allocated: Course[];
}

type Series = (model: Model, groups: number[]) => Float64Array;

function byAllocator(app: App, model: Model): Courses {
  const names = presentAllocators(app)
    .filter((name) => knowsBytes(model, allocatorNumber(name)))
    .filter((name) => app.state.filter.allocator === null || app.state.filter.allocator === name);
  const courses = (series: Series): Course[] =>
    names.map((name) => {
      const groups = listOf(selectedGroups(model, { ...app.state.filter, allocator: name }));
      return {
        name: kAllocatorTitles[name],
        filter: name,
        color: allocatorColor(allocatorNumber(name)),
        values: series(model, groups),
        groups,
      };
    });
  return { live: courses(liveSeries), allocated: courses(allocatedSeries) };
}

// Returns lines for the largest rows, and one line for all others. If `colors` contains a key, the key keeps this
// colour; otherwise it gets a free one.
function largest(model: Model, rows: Folded[], all: number[], series: Series, colors: Map<number, string>): Course[] {
  const top = rows.slice(0, kMost);
  const free = seriesColors().filter((color) => !top.some((row) => colors.get(row.key) === color));
  const rest = series(model, all);
  const courses = top.map((row): Course => {
    const values = series(model, row.groups);
    for (let bucket = 0; bucket < model.buckets; ++bucket) rest[bucket] -= values[bucket];
    const color = colors.get(row.key) ?? free.shift() ?? css('--others');
    colors.set(row.key, color);
    const name = keyText(model, options.by, row.key);
    return { name: printable(name), filter: name, color, values, groups: row.groups };
  });
  if (rest.some((value) => value > 0)) {
    const shown = new Set(top.flatMap((row) => row.groups));
    const groups = all.filter((group) => !shown.has(group));
    courses.push({ name: 'all others', filter: null, color: css('--others'), values: rest, groups });
  }
  return courses;
}

function byKey(app: App, model: Model, allocator: AllocatorName): Courses {
  const filter = { ...app.state.filter, allocator };
  const all = listOf(selectedGroups(model, filter));
  const rows = fold(model, options.by, filter).filter((row) => keyText(model, options.by, row.key) !== '(others)');
  const colors = new Map<number, string>();
  const live = rows.slice().sort((a, b) => b.peak - a.peak || b.allocated - a.allocated);
  const allocated = rows.slice().sort((a, b) => b.allocated - a.allocated || b.peak - a.peak);
  return {
    live: largest(model, live, all, liveSeries, colors),
    allocated: largest(model, allocated, all, allocatedSeries, colors),
  };
}

interface LegendColumn {
  title: string;
  of: (values: Float64Array, range: Range) => number;
  isLive?: boolean; // true: live memory, whose values may be upper bounds
}

// A legend for a plot. It has numbers for each line. `hover` shows the numbers of one bucket.
function legend(
  app: App,
  label: string,
  courses: Course[],
  format: (value: number) => string,
  columns: LegendColumn[],
): { element: HTMLElement; hover: (index: number | null) => void } {
  const range = rangeOf(app.model(), app.state.filter);
  const cells = courses.map(() => el('td', { class: 'at' }, ''));
  const rows = courses.map((course, at) => {
    const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
    swatch.style.backgroundColor = course.color;
    return el(
      'tr',
      {},
      el(
        'td',
        { class: 'text' },
        swatch,
        course.filter === null ? course.name : filterLink(app, options.by, course.filter),
      ),
      ...columns.map((column) => {
        const value = column.of(course.values, range);
        const isBound = column.isLive === true && isUpperBound(app.model(), course.groups, value);
        return el('td', { 'data-value': value, title: isBound ? kUpperBound : null }, atMost(isBound, bytes(value)));
      }),
      cells[at],
    );
  });
  const heads = [...columns.map((column) => column.title), 'At the pointer'];
  const frame = el(
    'div',
    { class: 'table short' },
    el(
      'table',
      { class: 'legend', 'aria-label': label },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col', class: 'text' }, kDimensionTitles[options.by]),
          ...heads.map((text) => el('th', { scope: 'col' }, text)),
        ),
      ),
      el('tbody', {}, ...rows),
    ),
  );
  const element = el('div', { class: 'table-box' }, scrollHint(frame), frame);
  const hover = (index: number | null): void => {
    cells.forEach((cell, at) => {
      const value = index === null ? undefined : courses[at].values[index];
      cell.textContent = value === undefined ? '' : format(value);
    });
  };
  return { element, hover };
}

function rangeFields(app: App): HTMLElement {
  const { from, to } = app.times;
  const field = (name: string, label: string, value: number): HTMLInputElement =>
    el('input', {
      type: 'number',
      step: 'any',
      min: 0,
      value: (value / 1e9).toFixed(6),
      'aria-label': label,
      'data-focus': name,
    });
  const begin = field('range-from', 'From, seconds', from);
  const end = field('range-to', 'To, seconds', to);
  const start = app.model().explore.start_ns;
  const apply = (): void => app.setTimes(start + Number(begin.value) * 1e9, start + Number(end.value) * 1e9);
  return el(
    'form',
    {
      class: 'range',
      submit: (event: Event) => {
        event.preventDefault();
        apply();
      },
    },
    el('span', { class: 'label' }, 'From'),
    begin,
    el('span', { class: 'label' }, 'to'),
    end,
    el('span', { class: 'label' }, 's'),
    el('button', { type: 'submit', class: 'action', 'data-focus': 'range-apply' }, 'Choose'),
    app.state.filter.range ? action('range-reset', 'Whole time', () => app.setRange(null)) : null,
  );
}

function kernelsAccount(app: App): (HTMLElement | null)[] {
  const { timeline } = app.trace;
  return [
    timeline && waitsSection(app, timeline),
    section(
      'The kernel’s own memory counters',
      filtersGroups(app.state.filter) && notFollowed(app, ['range']),
      timeline ? samples(app, timeline) : empty('The report was written without a timeline.'),
    ),
    timeline && balances(timeline),
  ];
}

export function timelinePage(app: App): HTMLElement {
  if (!hasMemory(app.trace)) return el('div', {}, ...kernelsAccount(app));
  const model = app.model();
  const allocator = oneAllocator(app, options.allocator);
  const several = options.by === 'allocator';
  const courses = several ? byAllocator(app, model) : byKey(app, model, allocator);
  const known = several ? courses.live.length > 0 : knowsBytes(model, allocatorNumber(allocator));
  const { start_ns, bucket_ns } = model.explore;
  const seconds = bucket_ns / 1e9;
  const range = rangeOf(model, app.state.filter);
  const brush = (from: number, to: number): void => app.setTimes(start_ns + from * 1e9, start_ns + to * 1e9);
  const common = {
    stacked: !several,
    from: range.from * seconds,
    to: range.to * seconds,
    brush,
  };
  const at = (part: number): Float64Array =>
    Float64Array.from({ length: model.buckets }, (_, bucket) => (bucket + part) * seconds);
  const perSecond = (value: number): string => `${bytes(value)}/s`;
  const live = legend(app, 'Live bytes', courses.live, bytes, [
    { title: 'Live at the end', of: (values, { to }) => values[to - 1] ?? 0, isLive: true },
    { title: 'Peak', of: (values, { from, to }) => values.subarray(from, to).reduce((a, b) => Math.max(a, b), 0) },
  ]);
  const allocated = legend(app, 'Allocated bytes', courses.allocated, (value) => perSecond(value / seconds), [
    { title: 'Allocated', of: (values, { from, to }) => values.subarray(from, to).reduce((a, b) => a + b, 0) },
  ]);
  const what = several ? 'allocators' : kDimensionTitles[options.by].toLowerCase().replace(/y$/, 'ie') + 's';
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'bar' },
      segmented(
        'by',
        'By',
        (['site', 'module', 'subsystem', 'directory', 'cache', 'task', 'allocator'] as const).map((value) => ({
          value,
          title: kDimensionTitles[value],
        })),
        options.by,
        (by) => {
          options.by = by;
          app.redraw();
        },
      ),
      !several &&
        segmented('allocator', 'Allocator', allocatorChoices(app), allocator, (name) => {
          options.allocator = name;
          if (app.state.filter.allocator !== null) app.filterBy('allocator', name);
          else app.redraw();
        }),
      rangeFields(app),
    ),
    several &&
      note('Allocators are not stacked, because pages include the pages of slab, percpu memory and vmalloc areas.'),
    !known
      ? empty(
          `The traced kernel does not report how many bytes ${kAllocatorTitles[allocator].toLowerCase()} memory takes.`,
        )
      : courses.live.length + courses.allocated.length === 0
        ? empty(nothingLeft(app))
        : el(
            'div',
            {},
            section(
              'Live bytes',
              plot({
                ...common,
                label: `Live bytes by ${what} over time; the table below has the numbers`,
                times: at(1),
                lines: courses.live,
                hover: live.hover,
              }),
            ),
            section(
              'Allocated per second',
              plot({
                ...common,
                label: `Bytes allocated per second by ${what}; the table below has the numbers`,
                times: at(0.5),
                lines: courses.allocated.map((course) => ({
                  ...course,
                  values: course.values.map((value) => value / seconds),
                })),
                suffix: '/s',
                hover: allocated.hover,
                height: 150,
              }),
            ),
            windowSection(app, options.by),
            el(
              'div',
              { class: 'legends' },
              el('div', {}, el('h3', {}, 'Largest by live bytes'), live.element),
              el('div', {}, el('h3', {}, 'Largest by allocated bytes'), allocated.element),
            ),
            note(
              `Drag over a plot to select a time range for all pages. Buckets of ${clock(bucket_ns)}; live bytes and peaks are those at their ends.`,
            ),
          ),
    ...kernelsAccount(app),
  );
}
