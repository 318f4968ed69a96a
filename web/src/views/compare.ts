// SPDX-License-Identifier: GPL-2.0-or-later
// The page about differences between trace A and trace B.
import type { App } from '../app';
import { kAllocators, kAllocatorTitles } from '../data/allocators';
import { joinedSums, joinTrees, type JoinedTree } from '../data/compare';
import type { AllocatorName, Diff } from '../data/document';
import { kNoFilter } from '../data/filter';
import { layOut } from '../data/layout';
import { rangeOf, selectedGroups } from '../data/model';
import { highestBucket, kMetrics, listOf, liveSeries, metricByGroup, type Metric } from '../data/sums';
import { change, printable, signed } from '../text';
import { changeColor } from '../widgets/colors';
import { action, empty, note, section, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { flame } from '../widgets/flame';
import { functionSearch, notFollowed } from './common';
import { compareTables } from './compare_tables';
import { formatOf, kMetricTitles, markFound } from './flame';

const options: {
  allocator: AllocatorName | null;
  metric: Metric;
  width: 'a' | 'b';
  divided: 'yes' | 'no';
  search: string;
} = { allocator: null, metric: 'allocated', width: 'b', divided: 'yes', search: '' };

let joined: JoinedTree | null = null;

// A flame graph that compares two traces: functions are red if B has more memory, and green if B has less.
function differential(app: App, diff: Diff, allocator: AllocatorName): HTMLElement {
  const models = [app.model(0), app.model(1)];
  const tree = (joined ??= joinTrees(models));
  const metric = options.metric === 'wasted' && allocator !== 'slab' ? 'allocated' : options.metric;
  const counts = metric !== 'live' && metric !== 'peak';
  const divides = counts && options.divided === 'yes' && diff.basis.per !== 'trace';
  const filter = {
    ...kNoFilter,
    site: app.state.filter.site,
    module: app.state.filter.module,
    subsystem: app.state.filter.subsystem,
    directory: app.state.filter.directory,
    cache: app.state.filter.cache,
    task: app.state.filter.task,
    allocator,
  };
  const [a, b] = models.map((model, side) => {
    const selected = selectedGroups(model, filter);
    const range = rangeOf(model, kNoFilter);
    const whole = liveSeries(model, listOf(selectedGroups(model, { ...kNoFilter, allocator })));
    const byGroup = metricByGroup(model, selected, metric, range, highestBucket(whole, range));
    return joinedSums(tree, side, model, byGroup, divides ? (side === 0 ? diff.basis.a : diff.basis.b) || 1 : 1);
  });
  const widths = options.width === 'b' ? b : a;
  const layout = layOut(tree.parent, widths);
  const suffix = divides ? (diff.basis.per === 'second' ? '/s' : ` per ${diff.basis.event ?? 'event'}`) : '';
  const format = (value: number): string => formatOf(metric)(value) + suffix;
  const name = (node: number): string =>
    node === 0 ? `all of ${kAllocatorTitles[allocator].toLowerCase()}` : printable(tree.names[tree.name[node]]);
  let most = 0;
  for (let node = 1; node < tree.parent.length; ++node) most = Math.max(most, Math.abs(b[node] - a[node]));
  const details = el('div', { id: 'flame-details', class: 'details', 'aria-live': 'polite' });
  const relative = (node: number): string => change(a[node], b[node]);
  const describe = (node: number): void =>
    details.replaceChildren(
      el(
        'div',
        { class: 'chosen' },
        el('b', {}, name(node)),
        el('span', { class: 'number' }, `A ${format(a[node])}`),
        el('span', { class: 'number' }, `B ${format(b[node])}`),
        el(
          'span',
          { class: 'number', 'data-value': b[node] - a[node] },
          `B − A ${signed(b[node] - a[node], format)} (${relative(node)})`,
        ),
      ),
    );
  const back = action('flame-reset', 'Show all', () => graph.zoomTo(0), 'Escape');
  back.hidden = true;
  const graph = flame({
    label: 'Differential flame graph, red where B has more than A, green where it has less',
    layout,
    parent: tree.parent,
    depth: tree.depth,
    name: (node) => {
      const more = b[node] - a[node];
      return `${more > 0 ? '+ ' : more < 0 ? '− ' : ''}${name(node)}`;
    },
    color: (node) => changeColor(most > 0 ? (b[node] - a[node]) / most : 0),
    tooltip: (node) => [
      name(node),
      ['A', format(a[node])],
      ['B', format(b[node])],
      ['B − A', signed(b[node] - a[node], format)],
      ['Change', relative(node)],
    ],
    selected: describe,
    zoomed: (node) => {
      back.hidden = node === 0;
    },
    rootBelow: false,
    zoom: 0,
  });
  describe(0);
  const choose =
    <Key extends keyof typeof options>(key: Key) =>
    (value: (typeof options)[Key]): void => {
      options[key] = value;
      app.redraw();
    };
  return section(
    'Stacks',
    el(
      'div',
      { class: 'bar' },
      segmented(
        'diff-metric',
        'Metric',
        kMetrics
          .filter((value) => value !== 'wasted' || allocator === 'slab')
          .map((value) => ({ value, ...kMetricTitles[value] })),
        metric,
        choose('metric'),
      ),
      segmented(
        'diff-width',
        'Widths of',
        [
          { value: 'a', title: 'A' },
          { value: 'b', title: 'B' },
        ],
        options.width,
        choose('width'),
      ),
      counts &&
        diff.basis.per !== 'trace' &&
        segmented(
          'diff-divided',
          'Counts',
          [
            { value: 'yes', title: diff.basis.per === 'second' ? 'per second' : 'per event' },
            { value: 'no', title: 'in all' },
          ],
          options.divided,
          choose('divided'),
        ),
      ...functionSearch(options, markFound(graph, tree, widths, format)),
      back,
    ),
    notFollowed(app, ['site', 'module', 'subsystem', 'directory', 'cache', 'task', 'allocator']),
    note(
      'Frames are joined by function name. ',
      el('span', { class: 'more' }, 'Red'),
      ' (+): B has more; ',
      el('span', { class: 'less' }, 'green'),
      ` (−): B has less. A stronger colour is a larger change. To see frames that only ${options.width === 'b' ? 'A' : 'B'} has, choose the widths of ${options.width === 'b' ? 'A' : 'B'}.`,
    ),
    widths[0] > 0 ? graph.element : empty(`Trace ${options.width.toUpperCase()} has no such allocation.`),
    widths[0] > 0 && details,
  );
}

export function comparePage(app: App): HTMLElement {
  const { diff } = app.document;
  if (!diff) return empty('The report has no comparison.');
  const present = kAllocators.filter((name) =>
    app.document.traces.some(({ report }) => report[name].allocations > 0 || report[name].frees > 0),
  );
  const wanted = (app.state.filter.allocator as AllocatorName | null) ?? options.allocator ?? 'slab';
  const allocator = present.includes(wanted) ? wanted : present.at(0);
  if (!allocator) return empty('Neither trace has allocations.');
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'bar' },
      segmented(
        'diff-allocator',
        'Allocator',
        present.map((value) => ({ value, title: kAllocatorTitles[value] })),
        allocator,
        (value) => {
          options.allocator = value;
          if (app.state.filter.allocator !== null) app.filterBy('allocator', value);
          else app.redraw();
        },
      ),
    ),
    differential(app, diff, allocator),
    compareTables(app, diff, allocator),
  );
}
