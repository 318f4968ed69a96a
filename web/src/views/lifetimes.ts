// SPDX-License-Identifier: GPL-2.0-or-later
// The page about how long allocations live, and when they are freed.
import type { App } from '../app';
import { coarseRange, lifetimeGrid, lifetimesLeftOut, type LifetimeGrid } from '../data/grids';
import type { Model } from '../data/model';
import { bytes, clock, count, duration, percent } from '../text';
import { empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { heat } from '../widgets/heat';
import { table } from '../widgets/table';
import { octaveTicks, timeTicks } from '../widgets/ticks';
import { allocatorControl, notFollowed, weightControl, type Weight } from './common';

const kTimeTicks = 12; // approximate number
const options: { weight: Weight } = { weight: 'frees' };

function octaveTitle(octave: number): string {
  return duration(octave === 0 ? 0 : 2 ** octave);
}

function draw(model: Model, grid: LifetimeGrid): HTMLElement {
  const weight = options.weight;
  const width = model.explore.bucket_ns * model.explore.coarse;
  const cell = (row: number, column: number): number => grid[weight][row * grid.columns + column];
  const begin = (column: number): number => (grid.firstBucket + column) * width;
  return heat({
    label: 'Lifetimes over time; the table below has the sums',
    rows: grid.rows,
    columns: grid.columns,
    value: cell,
    rowTicks: octaveTicks(grid.firstOctave, grid.rows),
    columnTicks: timeTicks(begin(0), begin(grid.columns), width, kTimeTicks),
    rowAxis: 'lifetime',
    columnAxis: 'time of the free',
    tooltip: (row, column) => {
      const at = row * grid.columns + column;
      const octave = grid.firstOctave + row;
      return [
        `${octaveTitle(octave)} to ${duration(2 ** (octave + 1))}`,
        ['Freed at', `${clock(begin(column))} – ${clock(begin(column) + width)}`],
        ['Frees', count(grid.frees[at])],
        ['Bytes', bytes(grid.bytes[at])],
      ];
    },
    unit: weight === 'frees' ? 'count' : 'bytes',
  });
}

function octaves(grid: LifetimeGrid): { octave: number; frees: number; bytes: number }[] {
  return Array.from({ length: grid.rows }, (_, row) => {
    let frees = 0;
    let sum = 0;
    for (let column = 0; column < grid.columns; ++column) {
      frees += grid.frees[row * grid.columns + column];
      sum += grid.bytes[row * grid.columns + column];
    }
    return { octave: grid.firstOctave + row, frees, bytes: sum };
  });
}

export function lifetimesPage(app: App): HTMLElement {
  const model = app.model();
  const { filter } = app.state;
  const grid = lifetimeGrid(model, filter);
  const rows = grid ? octaves(grid) : [];
  const all = rows.reduce((sum, row) => sum + row.frees, 0);
  const coarse = coarseRange(model, filter);
  const width = model.explore.bucket_ns * model.explore.coarse;
  const any = model.explore.lifetimes.octave.length > 0;
  const rare = lifetimesLeftOut(model, filter);
  return el(
    'div',
    {},
    el('div', { class: 'bar' }, weightControl(app, options), allocatorControl(app, 'lifetime-allocator')),
    notFollowed(app, ['range', 'site', 'allocator']),
    filter.range &&
      note(
        `Lifetimes are stored in steps of ${clock(width)}, so the page shows ${clock(coarse.from * width)} – ${clock(coarse.to * width)}.`,
      ),
    rare > 0 &&
      note(
        `Rare lifetimes of this call site are not counted here: the report has ${count(rare)} frees without their call sites.`,
      ),
    !grid
      ? empty(
          rare > 0
            ? 'The counted frees include none of this call site.'
            : any
              ? 'With these filters, no memory was freed.'
              : 'No memory that was allocated in the trace was freed in it.',
        )
      : el(
          'div',
          {},
          section('Lifetimes of what was freed', draw(model, grid)),
          section(
            'Sums',
            table({
              name: 'octaves',
              label: 'Frees by lifetime',
              short: true,
              rows,
              columns: [
                {
                  key: 'lifetime',
                  title: 'Lifetime',
                  value: (row) => row.octave,
                  text: (row) => `${octaveTitle(row.octave)} – ${duration(2 ** (row.octave + 1))}`,
                },
                { key: 'frees', title: 'Frees', value: (row) => row.frees, text: (row) => count(row.frees) },
                {
                  key: 'share',
                  title: 'Share',
                  value: (row) => row.frees,
                  text: (row) => percent((100 * row.frees) / (all || 1)),
                },
                { key: 'bytes', title: 'Bytes', value: (row) => row.bytes, text: (row) => bytes(row.bytes) },
              ],
              empty: 'Nothing was freed.',
            }),
          ),
        ),
  );
}
