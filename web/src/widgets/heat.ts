// SPDX-License-Identifier: GPL-2.0-or-later
// A heat map on a canvas: cells in rows and columns, coloured by the logarithm of their values.
import { bytes, count } from '../text';
import { css, isDark } from './colors';
import { el, onWidth, sized } from './dom';
import { placeOnScale, scaleColor, scaleStops, textOn, type Rgb } from './heat_scale';
import { cellTicks, thinOut, type Tick } from './ticks';
import { hideTooltip, showTooltip } from './tooltip';

export type HeatUnit = 'bytes' | 'count';
const kFormats: Record<HeatUnit, (value: number) => string> = { bytes, count };
const rgb = (color: Rgb): string => `rgb(${color.join(' ')})`;

export interface HeatOptions {
  label: string;
  rows: number; // number of rows; row 0 is at the bottom or, with `rowsDown`, at the top
  columns: number;
  rowsDown?: boolean;
  value: (row: number, column: number) => number;
  rowTicks: Tick[];
  columnTicks: Tick[];
  rowAxis: string;
  columnAxis: string;
  tooltip: (row: number, column: number) => (string | [string, string])[];
  unit: HeatUnit;
  marked?: (row: number, column: number) => boolean;
  square?: boolean;
  rowSum?: (row: number) => string; // text of the sum of a row, shown after the row
  columnSum?: (column: number) => string; // text of the sum of a column, shown above the column
}

const kBelow = 40;

// A legend that shows the colours of some round values.
function legend(least: number, most: number, unit: HeatUnit): HTMLElement {
  const stops = scaleStops(least, most, unit === 'bytes' ? 16 : 10);
  return el(
    'ul',
    { class: 'scale', 'aria-label': 'Colours of values' },
    ...stops.map((value) => {
      const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.backgroundColor = rgb(scaleColor(placeOnScale(value, least, most), isDark()));
      return el('li', {}, swatch, kFormats[unit](value));
    }),
  );
}

export function heat(options: HeatOptions): HTMLElement {
  const { rows, columns } = options;
  const canvas = el('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-label': `${options.label}. Arrow keys go from cell to cell.`,
    'data-focus': 'heat',
  });
  const said = el('p', { class: 'said', role: 'status' });
  let least = Infinity;
  let most = 0;
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column) {
      const value = options.value(row, column);
      if (value > 0) [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
  const element = el('div', { class: 'heat' }, canvas, most > 0 && legend(least, most, options.unit), said);
  let box = { left: 0, top: 4, width: 1, height: 1, cellX: 1, cellY: 1 };
  const cursor = { row: -1, column: -1 };
  let context: CanvasRenderingContext2D | null = null;
  let size = { width: 0, height: 0 };
  const { columnSum } = options;
  const sums = columnSum ? cellTicks(columns, columnSum) : [];
  let widestSum = 0;

  // y() returns the upper edge of a row, and yOf() the vertical position of a tick.
  const y = (row: number): number => box.top + (options.rowsDown ? row : rows - 1 - row) * box.cellY;
  const yOf = (tick: Tick): number => box.top + (options.rowsDown ? tick.at : rows - tick.at) * box.cellY;

  function drawCell(to: CanvasRenderingContext2D, row: number, column: number): void {
    const gap = box.cellX > 6 && box.cellY > 6 ? 1 : 0;
    const value = options.value(row, column);
    const x = box.left + column * box.cellX;
    if (value > 0) {
      const color = scaleColor(placeOnScale(value, least, most), isDark());
      to.fillStyle = rgb(color);
      to.fillRect(x, y(row), Math.max(1, box.cellX - gap), Math.max(1, box.cellY - gap));
      const text = kFormats[options.unit](value);
      if (box.cellX > 20 && to.measureText(text).width < box.cellX - 8 && box.cellY > 14) {
        to.fillStyle = rgb(textOn(color));
        to.textAlign = 'center';
        to.textBaseline = 'middle';
        to.fillText(text, x + box.cellX / 2, y(row) + box.cellY / 2);
      }
    }
    if (!options.marked?.(row, column)) return;
    to.strokeStyle = css('--mark');
    to.lineWidth = 2;
    to.strokeRect(x + 1, y(row) + 1, Math.max(1, box.cellX - gap - 2), Math.max(1, box.cellY - gap - 2));
  }

  function drawTicks(to: CanvasRenderingContext2D): void {
    to.textAlign = 'right';
    to.textBaseline = 'middle';
    for (const tick of thinOut(options.rowTicks, box.cellY, 16)) to.fillText(tick.text, box.left - 6, yOf(tick));
    to.textAlign = 'center';
    to.textBaseline = 'top';
    const widest = Math.max(0, ...options.columnTicks.map((tick) => to.measureText(tick.text).width));
    for (const tick of thinOut(options.columnTicks, box.cellX, widest + 12)) {
      const right = size.width - to.measureText(tick.text).width / 2 - 1;
      to.fillText(tick.text, Math.min(box.left + tick.at * box.cellX, right), box.top + box.height + 5);
    }
  }

  function drawSums(to: CanvasRenderingContext2D): void {
    if (options.rowSum && box.cellY >= 12) {
      to.textAlign = 'left';
      to.textBaseline = 'middle';
      for (let row = 0; row < rows; ++row)
        to.fillText(options.rowSum(row), box.left + box.width + 8, y(row) + box.cellY / 2);
    }
    to.textAlign = 'center';
    to.textBaseline = 'bottom';
    for (const tick of thinOut(sums, box.cellX, widestSum + 8))
      to.fillText(tick.text, box.left + tick.at * box.cellX, box.top - 4);
  }

  function drawAxes(to: CanvasRenderingContext2D): void {
    to.textAlign = 'center';
    to.textBaseline = 'top';
    to.fillText(options.columnAxis, box.left + box.width / 2, box.top + box.height + 22);
    to.save();
    to.translate(7, box.top + box.height / 2);
    to.rotate(-Math.PI / 2);
    to.textBaseline = 'middle';
    to.fillText(options.rowAxis, 0, 0);
    to.restore();
  }

  function draw(): void {
    if (!context) return;
    const to = context;
    to.clearRect(0, 0, size.width, size.height);
    to.font = `11px ${css('--sans')}`;
    to.fillStyle = css('--sunken');
    to.fillRect(box.left, box.top, box.width, box.height);
    for (let row = 0; row < rows; ++row) for (let column = 0; column < columns; ++column) drawCell(to, row, column);
    to.fillStyle = css('--muted');
    drawTicks(to);
    drawSums(to);
    drawAxes(to);
    if (cursor.row < 0) return;
    to.strokeStyle = css('--accent');
    to.lineWidth = 2;
    const x = box.left + cursor.column * box.cellX;
    to.strokeRect(x, y(cursor.row), Math.max(2, box.cellX), Math.max(2, box.cellY));
  }

  canvas.addEventListener('mousemove', (event) => {
    const at = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - at.left - box.left) / box.cellX);
    const above = Math.floor((event.clientY - at.top - box.top) / box.cellY);
    const row = options.rowsDown ? above : rows - 1 - above;
    if (row < 0 || row >= rows || column < 0 || column >= columns) hideTooltip();
    else showTooltip(event.clientX, event.clientY, options.tooltip(row, column));
  });
  canvas.addEventListener('mouseleave', hideTooltip);
  canvas.addEventListener('keydown', (event) => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [options.rowsDown ? -1 : 1, 0],
      ArrowDown: [options.rowsDown ? 1 : -1, 0],
    };
    if (!(event.key in moves)) return;
    const move = moves[event.key];
    event.preventDefault();
    event.stopPropagation();
    cursor.row = Math.max(0, Math.min(rows - 1, cursor.row + move[0]));
    cursor.column = Math.max(0, Math.min(columns - 1, cursor.column + move[1]));
    said.textContent = options
      .tooltip(cursor.row, cursor.column)
      .map((line) => (typeof line === 'string' ? line : line.join(' ')))
      .join(' · ');
    draw();
  });

  onWidth(element, (width) => {
    const measure = canvas.getContext('2d');
    const widest = (texts: string[]): number => {
      if (!measure) return 60;
      measure.setTransform(1, 0, 0, 1, 0, 0);
      measure.font = `11px ${css('--sans')}`;
      return Math.max(0, ...texts.map((text) => measure.measureText(text).width));
    };
    const { rowSum } = options;
    const left = Math.max(40, widest(options.rowTicks.map((tick) => tick.text)) + 26);
    const right = rowSum ? widest(Array.from({ length: rows }, (_, row) => rowSum(row))) + 12 : 0;
    widestSum = widest(sums.map((tick) => tick.text));
    const top = columnSum ? 22 : 8;
    const room = width - left - 20 - right;
    const cellX = options.square ? Math.min(96, room / columns) : room / columns;
    const usualY = options.square ? Math.max(4, Math.min(cellX, 44)) : Math.max(14, Math.min(26, 420 / rows));
    const cellY = Math.max(usualY, (widest([options.rowAxis]) + 4) / rows);
    box = { left, top, width: cellX * columns, height: cellY * rows, cellX, cellY };
    size = { width: width - 12, height: box.height + kBelow + top };
    context = sized(canvas, size.width, size.height);
    draw();
  });
  return element;
}
