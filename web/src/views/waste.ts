// SPDX-License-Identifier: GPL-2.0-or-later
// The page that compares requested and allocated memory.
import type { App } from '../app';
import { sizeMap, sizePairs, sizesLeftOut, type SizePair } from '../data/grids';
import { bytes, bytesSpan, count, percent, printable } from '../text';
import { empty, note, section, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { heat, type HeatUnit } from '../widgets/heat';
import { table } from '../widgets/table';
import { cellTicks } from '../widgets/ticks';
import { filterLink, nothingLeft, notFollowed } from './common';

const kSitesShown = 3;

type Weight = 'wasted' | 'given' | 'hits';
const options: { weight: Weight } = { weight: 'wasted' };
const kWeights: Record<Weight, { title: string; of: (pair: SizePair) => number; unit: HeatUnit }> = {
  wasted: { title: 'Wasted', of: (pair) => pair.wasted, unit: 'bytes' },
  given: { title: 'Given', of: (pair) => pair.allocated * pair.allocations, unit: 'bytes' },
  hits: { title: 'Hits', of: (pair) => pair.allocations, unit: 'count' },
};

function topSites(app: App, pair: SizePair): string[] {
  return [...pair.sites]
    .sort((a, b) => b[1] - a[1])
    .slice(0, kSitesShown)
    .map(([site]) => app.model().explore.strings[site]);
}

const sum = (pairs: SizePair[], of: (pair: SizePair) => number): number =>
  pairs.reduce((total, pair) => total + of(pair), 0);

function map(app: App, pairs: SizePair[]): HTMLElement {
  const found = sizeMap(pairs);
  if (!found) return empty('No sizes are known.');
  const { cells, columns, firstRow, firstColumn, rowSizes, columnSizes } = found;
  const { of, unit } = kWeights[options.weight];
  const values = cells.map((cell) => sum(cell, of));
  return heat({
    label: 'Requested size against allocated size; the table below has the numbers',
    rows: found.rows,
    columns,
    value: (row, column) => values[row * columns + column],
    rowTicks: cellTicks(found.rows, (row) => bytesSpan(...rowSizes[row])),
    columnTicks: cellTicks(columns, (column) => bytesSpan(...columnSizes[column])),
    rowAxis: 'allocated',
    columnAxis: 'requested',
    marked: (row, column) => firstRow + row === firstColumn + column && cells[row * columns + column].length > 0,
    unit,
    tooltip: (row, column) => {
      const cell = cells[row * columns + column];
      return [
        `${bytesSpan(...columnSizes[column])} requested, ${bytesSpan(...rowSizes[row])} allocated`,
        ['Allocations', count(sum(cell, (pair) => pair.allocations))],
        ['Given', bytes(sum(cell, kWeights.given.of))],
        ['Wasted', bytes(sum(cell, kWeights.wasted.of))],
        ...cell
          .slice(0, kSitesShown)
          .flatMap((pair) => topSites(app, pair).slice(0, 1))
          .map((site) => printable(site)),
      ];
    },
  });
}

const share = (pair: SizePair): number =>
  pair.allocated > 0 ? (100 * (pair.allocated - pair.requested)) / pair.allocated : 0;

function sections(app: App, pairs: SizePair[]): HTMLElement[] {
  return [
    section(
      'Requested against allocated',
      el(
        'div',
        { class: 'bar' },
        segmented(
          'waste-weight',
          'Show',
          (['wasted', 'given', 'hits'] as const).map((value) => ({ value, title: kWeights[value].title })),
          options.weight,
          (weight) => {
            options.weight = weight;
            app.redraw();
          },
        ),
      ),
      map(app, pairs),
      note(
        'Outlined cells have nearly equal requested and allocated sizes. The farther a cell is from them, the more is wasted.',
      ),
    ),
    section(
      'Sizes',
      table({
        name: 'sizes',
        label: 'Sizes requested and allocated',
        rows: pairs,
        columns: [
          {
            key: 'requested',
            title: 'Requested',
            value: (row) => row.requested,
            text: (row) => `${count(row.requested)} B`,
          },
          {
            key: 'allocated',
            title: 'Allocated',
            value: (row) => row.allocated,
            text: (row) => `${count(row.allocated)} B`,
          },
          { key: 'allocations', title: 'Hits', value: (row) => row.allocations, text: (row) => count(row.allocations) },
          { key: 'wasted', title: 'Wasted', value: (row) => row.wasted, text: (row) => bytes(row.wasted) },
          { key: 'waste', title: 'Waste', value: share, text: (row) => percent(share(row)) },
          {
            key: 'site-count',
            title: 'Call sites',
            help: 'number of call sites that requested this size',
            value: (row) => row.sites.size,
            text: (row) => count(row.sites.size),
          },
          {
            key: 'sites',
            title: 'Largest call site',
            help: 'the call site with most allocations of this size',
            isText: true,
            isCode: true,
            value: (row) => topSites(app, row)[0] ?? '',
            text: (row) => printable(topSites(app, row)[0] ?? ''),
            node: (row) => filterLink(app, 'site', topSites(app, row)[0] ?? ''),
          },
        ],
        sort: '-wasted',
        filterText: (row) => topSites(app, row).map(printable).join(' '),
        empty: 'No sizes.',
      }),
    ),
  ];
}

function rareOfSite(allocations: number): string {
  return `Rare sizes of this call site are not counted here: the report has ${count(allocations)} allocations of rare sizes without their call sites.`;
}

export function wastePage(app: App): HTMLElement {
  const pairs = sizePairs(app.model(), app.state.filter);
  const rare = sizesLeftOut(app.model(), app.state.filter);
  const ofOneSite = app.state.filter.site !== null;
  const others = ofOneSite ? { allocations: 0, requested: 0, allocated: 0 } : rare;
  const allocations = sum(pairs, kWeights.hits.of) + others.allocations;
  const wasted = sum(pairs, kWeights.wasted.of) + others.allocated - others.requested;
  const given = sum(pairs, kWeights.given.of) + others.allocated;
  const noted = notFollowed(app, ['range', 'site', 'allocator']);
  if (pairs.length === 0 && others.allocations === 0)
    return el(
      'div',
      {},
      noted,
      empty(
        app.state.filter.allocator !== null && app.state.filter.allocator !== 'slab'
          ? 'Only the slab allocator allocates more than requested, and the filter selects another allocator.'
          : rare.allocations > 0
            ? rareOfSite(rare.allocations)
            : nothingLeft(app),
      ),
    );
  return el(
    'div',
    {},
    noted,
    el(
      'p',
      { class: 'lead' },
      el('b', { 'data-value': wasted }, bytes(wasted)),
      ` of ${bytes(given)} in ${count(allocations)} slab allocations were not requested: ${percent((100 * wasted) / (given || 1))}.`,
    ),
    ofOneSite && rare.allocations > 0 && note(rareOfSite(rare.allocations)),
    others.allocations > 0 &&
      note(
        `Rare sizes are not shown separately: ${count(others.allocations)} allocations, with ${bytes(others.requested)} requested and ${bytes(others.allocated)} allocated.`,
      ),
    ...(pairs.length > 0 ? sections(app, pairs) : []),
  );
}
