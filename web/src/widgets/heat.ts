// SPDX-License-Identifier: GPL-2.0-or-later
// A heat map on a canvas: cells in rows and columns, coloured by the logarithm of their values.
import { css, heatColor } from './colors';
import { el, onWidth, sized } from './dom';
import { hideTooltip, showTooltip } from './tooltip';

export interface HeatOptions {
  label: string;
  rows: number; // row 0 is at the bottom; with `rowsDown` it is at the top
  columns: number;
  rowsDown?: boolean;
  value: (row: number, column: number) => number;
  rowTitle: (row: number) => string;
  columnTitle: (column: number) => string;
  rowAxis: string;
  columnAxis: string;
  tooltip: (row: number, column: number) => (string | [string, string])[];
  format: (value: number) => string; // for cells that are large enough, and for the scale
  marked?: (row: number, column: number) => boolean;
  square?: boolean;
  rowSum?: (row: number) => string; // sum shown after each row
  columnSum?: (column: number) => string; // sum shown above each column
}

const kBelow = 40;
const kScaleSteps = 12;

// A scale that shows the colours of values.
function scale(most: number, format: (value: number) => string): HTMLElement {
  const share = (part: number): number => Math.expm1(part * Math.log1p(most));
  const bar = el('span', { class: 'scale-bar' });
  const stops = Array.from({ length: kScaleSteps + 1 }, (_, step) => heatColor(step / kScaleSteps).fill);
  bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(', ')})`;
  return el(
    'div',
    { class: 'scale' },
    el('span', {}, format(0)),
    bar,
    el('span', {}, format(most)),
    el('span', { class: 'middle' }, `half-way: ${format(Math.round(share(0.5)))}`),
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
  let most = 0;
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column) most = Math.max(most, options.value(row, column));
  const element = el('div', { class: 'heat' }, canvas, most > 0 && scale(most, options.format), said);
  let box = { left: 0, top: 4, width: 1, height: 1, cellX: 1, cellY: 1 };
  const cursor = { row: -1, column: -1 };
  let context: CanvasRenderingContext2D | null = null;
  let size = { width: 0, height: 0 };

  const y = (row: number): number => box.top + (options.rowsDown ? row : rows - 1 - row) * box.cellY;

  function draw(): void {
    if (!context) return;
    const to = context;
    const muted = css('--muted');
    const lines = css('--line');
    to.clearRect(0, 0, size.width, size.height);
    to.font = `11px ${css('--sans')}`;
    to.fillStyle = css('--sunken');
    to.fillRect(box.left, box.top, box.width, box.height);
    const gap = box.cellX > 6 && box.cellY > 6 ? 1 : 0;
    for (let row = 0; row < rows; ++row)
      for (let column = 0; column < columns; ++column) {
        const value = options.value(row, column);
        const x = box.left + column * box.cellX;
        if (value > 0) {
          const color = heatColor(most > 1 ? Math.log1p(value) / Math.log1p(most) : 1);
          to.fillStyle = color.fill;
          to.fillRect(x, y(row), Math.max(1, box.cellX - gap), Math.max(1, box.cellY - gap));
          const text = options.format(value);
          if (box.cellX > 20 && to.measureText(text).width < box.cellX - 8 && box.cellY > 14) {
            to.fillStyle = color.text;
            to.textAlign = 'center';
            to.textBaseline = 'middle';
            to.fillText(text, x + box.cellX / 2, y(row) + box.cellY / 2);
          }
        }
        if (options.marked?.(row, column)) {
          to.strokeStyle = css('--found');
          to.lineWidth = 2;
          to.strokeRect(x + 1, y(row) + 1, Math.max(1, box.cellX - gap - 2), Math.max(1, box.cellY - gap - 2));
        }
      }
    to.fillStyle = muted;
    to.strokeStyle = lines;
    to.textAlign = 'right';
    to.textBaseline = 'middle';
    const everyRow = Math.max(1, Math.ceil(16 / box.cellY));
    for (let row = 0; row < rows; row += everyRow)
      to.fillText(options.rowTitle(row), box.left - 6, y(row) + box.cellY / 2, box.left - 20);
    to.textAlign = 'center';
    to.textBaseline = 'top';
    let widest = 0;
    for (let column = 0; column < columns; ++column)
      widest = Math.max(widest, to.measureText(options.columnTitle(column)).width);
    for (let column = 0; column < columns; column += Math.max(1, Math.ceil((widest + 12) / box.cellX)))
      to.fillText(options.columnTitle(column), box.left + (column + 0.5) * box.cellX, box.top + box.height + 5);
    if (options.rowSum && box.cellY >= 12) {
      to.textAlign = 'left';
      to.textBaseline = 'middle';
      for (let row = 0; row < rows; ++row)
        to.fillText(options.rowSum(row), box.left + box.width + 8, y(row) + box.cellY / 2);
    }
    if (options.columnSum && box.cellX >= 48) {
      to.textAlign = 'center';
      to.textBaseline = 'bottom';
      for (let column = 0; column < columns; ++column)
        to.fillText(options.columnSum(column), box.left + (column + 0.5) * box.cellX, box.top - 4);
    }
    to.textAlign = 'center';
    to.textBaseline = 'top';
    to.fillText(options.columnAxis, box.left + box.width / 2, box.top + box.height + 22);
    to.save();
    to.translate(7, box.top + box.height / 2);
    to.rotate(-Math.PI / 2);
    to.textBaseline = 'middle';
    to.fillText(options.rowAxis, 0, 0);
    to.restore();
    if (cursor.row >= 0) {
      to.strokeStyle = css('--accent');
      to.lineWidth = 2;
      const x = box.left + cursor.column * box.cellX;
      to.strokeRect(x, y(cursor.row), Math.max(2, box.cellX), Math.max(2, box.cellY));
    }
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
    let left = 40;
    if (measure) {
      measure.setTransform(1, 0, 0, 1, 0, 0);
      measure.font = `11px ${css('--sans')}`;
      for (let row = 0; row < rows; ++row) left = Math.max(left, measure.measureText(options.rowTitle(row)).width + 26);
    }
    const top = options.columnSum ? 22 : 4;
    const room = width - left - 20 - (options.rowSum ? 78 : 0);
    const cellX = options.square ? Math.min(96, room / columns) : room / columns;
    const cellY = options.square ? Math.max(4, Math.min(cellX, 44)) : Math.max(14, Math.min(26, 420 / rows));
    box = { left, top, width: cellX * columns, height: cellY * rows, cellX, cellY };
    size = { width: width - 12, height: box.height + kBelow + top };
    context = sized(canvas, size.width, size.height);
    draw();
  });
  return element;
}
