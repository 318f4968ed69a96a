// SPDX-License-Identifier: GPL-2.0-or-later
// The page about allocations by stack.
import type { App } from '../app';
import { allocatorNumber, kAllocatorTitles } from '../data/allocators';
import type { AllocatorName } from '../data/document';
import { kDimensionTitles, kNoFilter } from '../data/filter';
import { layOut, search } from '../data/layout';
import { keyText, rangeOf, selectedGroups, type Model } from '../data/model';
import type { TableDimension } from '../data/rows';
import { highestBucket, kMetrics, listOf, liveSeries, metricByGroup, type Metric } from '../data/sums';
import { addUp, below, functionSums } from '../data/tree';
import { bytes, clock, count, percent, printable } from '../text';
import { flameShades, hashOf } from '../widgets/colors';
import { action, empty, note, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { flame, type Flame } from '../widgets/flame';
import { table } from '../widgets/table';
import { allocatorChoices, filterLink, functionSearch, leftOutNote, nothingLeft, oneAllocator } from './common';

export const kMetricTitles: Record<Metric, { title: string; help: string }> = {
  allocated: { title: 'Allocated', help: 'bytes allocated' },
  live: { title: 'Live', help: 'bytes live at the end' },
  peak: { title: 'Peak', help: 'live bytes at the time of the highest sum' },
  wasted: { title: 'Wasted', help: 'bytes allocated beyond the request' },
  hits: { title: 'Hits', help: 'allocations' },
};

const options: { metric: Metric; allocator: AllocatorName | null; shape: 'icicle' | 'flame'; search: string } = {
  metric: 'allocated',
  allocator: null,
  shape: 'icicle',
  search: '',
};

export function formatOf(metric: Metric): (value: number) => string {
  return metric === 'hits' ? count : bytes;
}

// Marks frames by name. Returns the amount of memory in their subtrees.
export function markFound(
  graph: Flame,
  tree: { names: string[]; name: Int32Array; parent: Int32Array },
  widths: Float64Array,
  format: (value: number) => string,
): (wanted: string) => { text: string; sum: number } | null {
  return (wanted) => {
    if (wanted === '') {
      graph.mark(null);
      return null;
    }
    const hits = tree.names.map((symbol) => printable(symbol).toLowerCase().includes(wanted));
    const { found, sum, count: frames } = search(tree.parent, widths, (node) => hits[tree.name[node]]);
    graph.mark(found);
    const share = percent(widths[0] > 0 ? (100 * sum) / widths[0] : 0);
    return { text: `${count(frames)} ${frames === 1 ? 'frame' : 'frames'}, ${format(sum)}, ${share}`, sum };
  };
}

// Returns links for the largest keys of the given groups.
function links(
  app: App,
  model: Model,
  dimension: TableDimension,
  groups: number[],
  values: Float64Array,
  format: (value: number) => string,
): HTMLElement {
  const sums = new Map<number, number>();
  for (const group of groups) {
    const key = model.keys[dimension][group];
    sums.set(key, (sums.get(key) ?? 0) + values[group]);
  }
  const top = [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
  return el(
    'div',
    {},
    el('h3', {}, `${kDimensionTitles[dimension]}s`),
    el(
      'ul',
      { class: 'plain' },
      ...top
        .slice(0, 5)
        .map(([key, sum]) =>
          el(
            'li',
            {},
            filterLink(app, dimension, keyText(model, dimension, key)),
            el('span', { class: 'number' }, format(sum)),
          ),
        ),
      top.length > 5 && el('li', { class: 'muted' }, `and ${count(top.length - 5)} more`),
    ),
  );
}

export function flamePage(app: App): HTMLElement {
  const model = app.model();
  const { tree } = model;
  const allocator = oneAllocator(app, options.allocator);
  const filter = { ...app.state.filter, allocator };
  const selected = selectedGroups(model, filter);
  const range = rangeOf(model, filter);
  const everything = { ...kNoFilter, range: filter.range, allocator };
  const whole = liveSeries(model, listOf(selectedGroups(model, everything)));
  const highest = highestBucket(whole, range);
  const metrics = allocator === 'slab' ? kMetrics : kMetrics.filter((metric) => metric !== 'wasted');
  const metric = metrics.includes(options.metric) ? options.metric : 'allocated';
  const format = formatOf(metric);
  const byGroup = metricByGroup(model, selected, metric, range, highest);
  const own = new Float64Array(tree.nodes);
  for (let group = 0; group < model.groups; ++group)
    own[tree.leafOfStack[model.explore.groups.stack[group]]] += byGroup[group];
  const totals = addUp(tree.parent, own);
  const layout = layOut(tree.parent, totals);
  const shades = flameShades(allocatorNumber(allocator));
  const shadeOf = tree.names.map((name) => shades[hashOf(name) % shades.length]);
  const rootName = `all of ${kAllocatorTitles[allocator].toLowerCase()}`;
  const name = (node: number): string => (node === 0 ? rootName : printable(tree.names[tree.name[node]]));
  const share = (node: number): string => percent(totals[0] > 0 ? (100 * totals[node]) / totals[0] : null);

  const details = el('div', { id: 'flame-details', class: 'details', 'aria-live': 'polite' });
  let zoomed = 0;
  const describe = (node: number): void => {
    const inside = below(tree.parent, node);
    const groups = listOf(selected).filter((group) => inside[tree.leafOfStack[model.explore.groups.stack[group]]]);
    details.replaceChildren(
      el(
        'div',
        { class: 'chosen' },
        el('b', {}, name(node)),
        el('span', { class: 'number', 'data-value': totals[node] }, format(totals[node])),
        el('span', { class: 'muted' }, `${share(node)} of ${rootName}; ${format(own[node])} of its own`),
      ),
      el(
        'div',
        { class: 'columns' },
        ...(['site', 'module', 'subsystem', 'directory', 'cache', 'task'] as const).map((dimension) =>
          links(app, model, dimension, groups, byGroup, format),
        ),
      ),
    );
  };

  const back = action('flame-reset', 'Show all', () => graph.zoomTo(0), 'Escape');
  const functions = el('div');
  const listFunctions = (): void => {
    if (!more.open) return;
    functions.replaceChildren(
      table({
        name: 'functions',
        label: 'Functions',
        rows: functionSums(tree.parent, tree.name, own, totals, zoomed),
        columns: [
          {
            key: 'name',
            title: 'Function',
            isText: true,
            isCode: true,
            value: (row) => tree.names[row.name],
            text: (row) => printable(tree.names[row.name]),
          },
          { key: 'total', title: 'With callees', value: (row) => row.total, text: (row) => format(row.total) },
          {
            key: 'share',
            title: 'Share',
            value: (row) => row.total,
            text: (row) => percent((100 * row.total) / (totals[zoomed] || 1)),
          },
          { key: 'own', title: 'Own', value: (row) => row.own, text: (row) => format(row.own) },
        ],
        sort: '-total',
        filterText: (row) => printable(tree.names[row.name]),
        empty: 'No function.',
      }),
    );
  };
  const more = el('details', { toggle: listFunctions }, el('summary', {}, 'Functions as a table'), functions);

  const graph = flame({
    label: `Flame graph of ${kMetricTitles[metric].title.toLowerCase()}`,
    layout,
    parent: tree.parent,
    depth: tree.depth,
    name,
    color: (node) => (node === 0 ? shades[0] : shadeOf[tree.name[node]]),
    tooltip: (node) => [
      name(node),
      [kMetricTitles[metric].title, format(totals[node])],
      ['Share', share(node)],
      ['Own', format(own[node])],
    ],
    selected: describe,
    zoomed: (node) => {
      zoomed = node;
      back.hidden = node === 0;
      listFunctions();
    },
    rootBelow: options.shape === 'flame',
    zoom: 0,
  });
  back.hidden = true;

  const find = markFound(graph, tree, totals, format);
  describe(0);

  const choose =
    <Key extends keyof typeof options>(key: Key) =>
    (value: (typeof options)[Key]): void => {
      options[key] = value;
      if (key === 'allocator' && app.state.filter.allocator !== null) app.filterBy('allocator', value);
      else app.redraw();
    };
  return el(
    'div',
    { class: 'flame-page' },
    el(
      'div',
      { class: 'bar' },
      segmented('allocator', 'Allocator', allocatorChoices(app), allocator, choose('allocator')),
      segmented(
        'metric',
        'Metric',
        metrics.map((value) => ({ value, ...kMetricTitles[value] })),
        metric,
        choose('metric'),
      ),
      segmented(
        'shape',
        'Root',
        [
          { value: 'icicle', title: 'above' },
          { value: 'flame', title: 'below' },
        ],
        options.shape,
        choose('shape'),
      ),
      ...functionSearch(options, find),
      back,
    ),
    metric === 'peak' &&
      note(
        `Memory live at ${clock((highest + 1) * model.explore.bucket_ns)}, the end of the bucket at which ${rootName} was highest: ${bytes(whole[highest])}. Thus the frames add up. The peak of a single frame may be at another time.`,
      ),
    !model.explore.has_stacks &&
      note(
        app.trace.report.trace.stacks > 0
          ? 'Each allocation has only its call site, since the other trace was recorded without stacks.'
          : 'The trace was recorded without stacks: each allocation has only its call site. Record with --stacks to see who called it.',
      ),
    leftOutNote(app),
    totals[0] > 0 ? graph.element : empty(nothingLeft(app)),
    totals[0] > 0 && details,
    totals[0] > 0 && more,
  );
}
