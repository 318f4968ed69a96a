// SPDX-License-Identifier: GPL-2.0-or-later
// Round numbers for axes.

// A mark on an axis. `at` is its position: the number of cells from the start of the axis.
export interface Tick {
  at: number;
  text: string;
}

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const kTimes: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'us'],
  [1, 'ns'],
];
const kRoundDigits = [1, 2, 5];

// Formats the sizes on one axis with one unit. Sizes are not rounded, so marks at equal distances have equal
// differences.
export function byteTicks(values: number[], suffix = ''): string[] {
  const most = Math.max(0, ...values.map(Math.abs));
  const unit = Math.max(0, Math.min(kUnits.length - 1, Math.floor(Math.log2(Math.max(1, most)) / 10)));
  return values.map((value) =>
    value === 0 ? '0' : `${+(value / 2 ** (10 * unit)).toPrecision(6)} ${kUnits[unit]}${suffix}`,
  );
}

// Formats a round time without superfluous zeros.
export function roundTime(nanoseconds: number): string {
  const [size, unit] = kTimes.find(([least]) => nanoseconds >= least) ?? [1, 'ns'];
  return `${+(nanoseconds / size).toPrecision(6)} ${unit}`;
}

// Returns about `wanted` round times between `from` and `to`, in nanoseconds. A cell of the axis lasts `width`
// nanoseconds.
export function timeTicks(from: number, to: number, width: number, wanted: number): Tick[] {
  const least = (to - from) / wanted;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (kRoundDigits.find((digit) => digit * power >= least) ?? 10) * power;
  const ticks: Tick[] = [];
  for (let count = Math.ceil(from / step - 1e-9); count * step <= to; ++count)
    ticks.push({ at: (count * step - from) / width, text: `${+((count * step) / 1e9).toPrecision(9)} s` });
  return ticks;
}

// Returns the powers of ten on an axis that has a cell for each power of two. If there are few powers of ten, returns 2
// and 5 times these powers too.
export function octaveTicks(first: number, octaves: number): Tick[] {
  const digits = octaves < 10 ? kRoundDigits : [1];
  const ticks: Tick[] = [];
  for (let power = 1; Math.log2(power) <= first + octaves; power *= 10)
    for (const digit of digits) {
      const at = Math.log2(digit * power) - first;
      if (at >= 0 && at <= octaves) ticks.push({ at, text: roundTime(digit * power) });
    }
  return ticks;
}

// Returns a tick for the middle of each cell.
export function cellTicks(cells: number, title: (cell: number) => string): Tick[] {
  return Array.from({ length: cells }, (_, cell) => ({ at: cell + 0.5, text: title(cell) }));
}

// Returns every n-th tick, so that adjacent ticks are at least `room` pixels apart. A cell has `size` pixels.
export function thinOut(ticks: Tick[], size: number, room: number): Tick[] {
  for (let step = 1; step < ticks.length; ++step) {
    const kept = ticks.filter((_, at) => at % step === 0);
    if (kept.every((tick, at) => at === 0 || (tick.at - kept[at - 1].at) * size >= room)) return kept;
  }
  return ticks.slice(0, 1);
}
