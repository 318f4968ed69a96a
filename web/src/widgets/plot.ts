// SPDX-License-Identifier: GPL-2.0-or-later
// Lines and stacked areas over time, usually of bytes, drawn by uPlot. A brush selects a time range.
import uPlot from 'uplot';
import { css } from './colors';
import { el, onWidth } from './dom';
import { byteTicks } from './ticks';

export interface Line {
  name: string;
  color: string;
  values: ArrayLike<number | null>;
}

export interface PlotOptions {
  label: string;
  times: ArrayLike<number>; // seconds
  lines: Line[];
  stacked: boolean;
  points?: boolean;
  from: number; // start of the visible range in seconds
  to: number;
  suffix?: string; // text after the unit of bytes: "/s"
  ticks?: (values: number[]) => string[]; // texts on the axis of values that are not bytes
  brush: (from: number, to: number) => void;
  hover?: (index: number | null) => void;
  height?: number;
}

const kSync = 'time';

// Returns the number of plots that are connected to the pointer's position. For benchmarks.
export const livePlots = (): number => uPlot.sync(kSync).plots.length;
const kPowersOfTwo = Array.from({ length: 60 }, (_, exponent) => 2 ** exponent);

// Returns for each line the sum of this line and all lines below it. The last sum is the total.
export function stack(lines: Line[]): Float64Array[] {
  const sums: Float64Array[] = [];
  let below: Float64Array | null = null;
  for (const line of lines) {
    const sum = new Float64Array(line.values.length);
    for (let at = 0; at < sum.length; ++at) sum[at] = (below?.[at] ?? 0) + Math.max(0, line.values[at] ?? 0);
    sums.push(sum);
    below = sum;
  }
  return sums;
}

// Returns the range of the axis. It extends to the highest value with some margin. It starts at 0 or, if there are
// negative values, at the lowest value.
function spread(low: number | null, high: number | null): [number, number] {
  const least = Math.min(0, low ?? 0);
  const most = Math.max(0, high ?? 0);
  if (least === most) return [0, 1];
  const room = (most - least) * 0.06;
  return [least < 0 ? least - room : 0, most > 0 ? most + room : 0];
}

export function plot(options: PlotOptions): HTMLElement {
  const host = el('div', { class: 'plot', role: 'img', 'aria-label': options.label });
  const shown = options.lines.map((line) => line.values);
  const values = options.stacked ? stack(options.lines) : shown;
  // Draws the highest sum first, so that the lower sums are drawn on top of it.
  const order = options.lines.map((_, at) => at);
  if (options.stacked) order.reverse();
  const axis = {
    stroke: css('--muted'),
    grid: { stroke: css('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${css('--sans')}`,
  };
  const height = options.height ?? 230;

  let drawn: uPlot | null = null;
  const draw = (width: number): void => {
    drawn?.destroy();
    drawn = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [10, 26, 0, 0],
        cursor: {
          drag: { x: true, y: false, setScale: false },
          // All plots show the pointer's position, but a drag affects only one plot.
          sync: { key: kSync, filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
          points: { show: !options.stacked },
        },
        scales: {
          x: { time: false, range: [options.from, options.to] },
          y: { range: (_, low, high) => spread(low, high) },
        },
        axes: [
          { ...axis, size: 28, values: (_, ticks) => ticks.map((tick) => `${+tick.toPrecision(6)} s`) },
          {
            ...axis,
            size: 74,
            values: (_, ticks) => options.ticks?.(ticks) ?? byteTicks(ticks, options.suffix),
            ...(options.ticks ? {} : { incrs: kPowersOfTwo }),
          },
        ],
        series: [
          {},
          ...order.map((at) => {
            const { color, name } = options.lines[at];
            return {
              label: name,
              stroke: options.stacked ? css('--surface') : color,
              width: options.stacked ? 0.75 : 1.75,
              points: { show: options.points ?? false, size: 5 },
              spanGaps: true,
              ...(options.stacked ? { fill: color } : {}),
            };
          }),
        ],
        hooks: {
          setSelect: [
            (self) => {
              if (self.select.width < 4) return;
              const from = self.posToVal(self.select.left, 'x');
              const to = self.posToVal(self.select.left + self.select.width, 'x');
              options.brush(from, to);
            },
          ],
          setCursor: [(self) => options.hover?.(self.cursor.idx ?? null)],
        },
      },
      [options.times, ...order.map((at) => values[at])] as uPlot.AlignedData,
      host,
    );
    drawn.root.setAttribute('aria-hidden', 'true');
  };
  onWidth(host, draw, () => drawn?.destroy());
  return host;
}
