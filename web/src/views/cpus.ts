// SPDX-License-Identifier: GPL-2.0-or-later
// The page that shows which CPU or NUMA node frees the memory that another one allocated.
import type { App } from '../app';
import { freeMatrix, type Matrix } from '../data/grids';
import { bytes, count, percent } from '../text';
import { empty, note, section, segmented } from '../widgets/controls';
import { el } from '../widgets/dom';
import { heat } from '../widgets/heat';
import { table } from '../widgets/table';
import { cellTicks } from '../widgets/ticks';
import { allocatorControl, notFollowed, weightControl, type Weight } from './common';

const options: { by: 'cpu' | 'node'; weight: Weight } = { by: 'cpu', weight: 'frees' };

interface CpuRow {
  place: number;
  allocated: number;
  freed: number;
  own: number;
  away: number;
}

// Returns the memory that each CPU allocated and freed. Only counts memory that was allocated and freed in the trace.
function placeSums(grid: Matrix, weight: Weight): CpuRow[] {
  return grid.places.map((which, place) => {
    let allocated = 0;
    let freed = 0;
    for (let other = 0; other < grid.rows; ++other) {
      allocated += grid[weight][place * grid.columns + other];
      freed += grid[weight][other * grid.columns + place];
    }
    const own = grid.own[weight === 'frees' ? 0 : 1][place];
    return { place: which, allocated, freed, own, away: allocated - own };
  });
}

function placeName(what: string, place: number): string {
  return place < 0 ? `other ${what}s` : `${what} ${place}`;
}

function othersNote(byNode: boolean): string {
  return byNode
    ? 'CPUs with few frees, and CPUs whose node is not in the trace, are merged as other nodes. If such a CPU frees an object of a different CPU, or vice versa, this counts as a free on another node.'
    : 'CPUs with few frees are merged as other CPUs.';
}

function matrix(grid: Matrix, what: string, sums: CpuRow[]): HTMLElement {
  const weight = options.weight;
  const format = weight === 'frees' ? count : bytes;
  const name = (at: number): string => placeName(what, grid.places[at]);
  return heat({
    label: `${what} that allocated against ${what} that freed; the table below has the sums`,
    rows: grid.rows,
    columns: grid.columns,
    rowsDown: true,
    square: true,
    value: (row, column) => grid[weight][row * grid.columns + column],
    rowTicks: cellTicks(grid.rows, name),
    columnTicks: cellTicks(grid.columns, name),
    rowAxis: 'allocated on',
    columnAxis: 'freed on',
    marked: (row, column) => row === column && grid.places[row] >= 0,
    unit: weight === 'frees' ? 'count' : 'bytes',
    rowSum: (row) => `Σ ${format(sums[row].allocated)}`,
    columnSum: (column) => `Σ ${format(sums[column].freed)}`,
    tooltip: (row, column) => [
      `allocated on ${name(row)}, freed on ${name(column)}`,
      ['Frees', count(grid.frees[row * grid.columns + column])],
      ['Bytes', bytes(grid.bytes[row * grid.columns + column])],
    ],
  });
}

export function cpusPage(app: App): HTMLElement {
  const model = app.model();
  const knowsNodes = model.explore.cpu_nodes !== null;
  const byNode = options.by === 'node' && knowsNodes;
  const grid = freeMatrix(model, app.state.filter, byNode);
  const what = byNode ? 'node' : 'CPU';
  const sums = placeSums(grid, options.weight);
  const rows = sums.filter((row) => row.allocated > 0 || row.freed > 0);
  const all = rows.reduce((sum, row) => sum + row.allocated, 0);
  const away = rows.reduce((sum, row) => sum + row.away, 0);
  const format = options.weight === 'frees' ? count : bytes;
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'bar' },
      segmented(
        'places',
        'By',
        knowsNodes
          ? [
              { value: 'cpu', title: 'CPU' },
              { value: 'node', title: 'NUMA node' },
            ]
          : [{ value: 'cpu', title: 'CPU' }],
        byNode ? 'node' : 'cpu',
        (by) => {
          options.by = by;
          app.redraw();
        },
      ),
      weightControl(app, options),
      allocatorControl(app, 'cpu-allocator'),
    ),
    notFollowed(app, ['range', 'allocator']),
    !knowsNodes && note('The trace does not have the NUMA nodes of CPUs.'),
    all === 0
      ? empty('With these filters, no memory was both allocated and freed in the trace.')
      : el(
          'div',
          {},
          el(
            'p',
            { class: 'lead' },
            el('b', { 'data-value': away }, format(away)),
            ` of ${format(all)} ${options.weight === 'frees' ? 'frees were' : 'were freed'} on another ${what} than the allocation: ${percent((100 * away) / all)}.`,
          ),
          section(
            'Where memory is allocated and freed',
            matrix(grid, what, sums),
            grid.places.includes(-1) && note(othersNote(byNode)),
            note(`Outlined cells show memory that was freed on the ${what} that allocated it.`),
          ),
          section(
            'Sums',
            table({
              name: 'places',
              label: `Sums of each ${what}`,
              short: grid.rows <= 64,
              rows,
              columns: [
                {
                  key: 'place',
                  title: byNode ? 'Node' : 'CPU',
                  value: (row) => row.place,
                  text: (row) => (row.place < 0 ? 'others' : String(row.place)),
                },
                {
                  key: 'allocated',
                  title: 'Allocated here',
                  help: 'and freed anywhere',
                  value: (row) => row.allocated,
                  text: (row) => format(row.allocated),
                },
                { key: 'own', title: 'Freed here', value: (row) => row.own, text: (row) => format(row.own) },
                { key: 'away', title: 'Freed elsewhere', value: (row) => row.away, text: (row) => format(row.away) },
                {
                  key: 'share',
                  title: 'Elsewhere',
                  value: (row) => (row.allocated > 0 ? row.away / row.allocated : null),
                  text: (row) => percent(row.allocated > 0 ? (100 * row.away) / row.allocated : null),
                },
                {
                  key: 'freed',
                  title: 'All frees here',
                  help: 'frees that ran here, of memory allocated anywhere',
                  value: (row) => row.freed,
                  text: (row) => format(row.freed),
                },
              ],
              empty: 'No frees.',
            }),
          ),
        ),
  );
}
