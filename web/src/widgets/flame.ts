// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph on a canvas. Zooming changes the visible part of the layout. Adjacent frames that are narrower than a
// pixel are merged into one block. The cost of drawing therefore depends on the screen's width, not on the number of
// frames.
import { firstAfter, nodeAt, type Layout } from '../data/layout';
import { css } from './colors';
import { el, onWidth, sized } from './dom';
import { hideTooltip, showTooltip } from './tooltip';

export interface FlameOptions {
  label: string;
  layout: Layout;
  parent: Int32Array;
  depth: Uint16Array;
  name: (node: number) => string; // printable
  color: (node: number) => string;
  tooltip: (node: number) => (string | [string, string])[];
  selected: (node: number) => void;
  zoomed: (node: number) => void;
  rootBelow: boolean;
  zoom: number; // index of the node to zoom to at the start
}

export interface Flame {
  element: HTMLElement;
  mark: (found: Uint8Array | null) => void;
  zoomTo: (node: number) => void;
}

const kRow = 19;
const kMostHeight = 620;
const kZoomTime = 180;

// Times for drawing a frame of the animation, and intervals between these frames, in milliseconds. For benchmarks.
export const frameTimes: { draw: number; interval: number }[] = [];

export function flame(options: FlameOptions): Flame {
  const { layout, parent, depth } = options;
  const total = layout.x1.at(0) ?? 0;
  const height = Math.min(kMostHeight, Math.max(3, layout.levels) * kRow + 2);
  const canvas = el('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-label': `${options.label}. Arrow keys go from frame to frame, Enter zooms, Escape shows all.`,
    'aria-describedby': 'flame-details',
    'data-focus': 'flame',
  });
  const spacer = el('div', { class: 'flame-space' });
  const element = el('div', { class: 'flame' }, spacer);
  element.style.height = `${height}px`;
  spacer.style.height = `${layout.levels * kRow + 2}px`;
  spacer.append(canvas);

  let width = 0;
  let zoom = options.zoom;
  let selected = options.zoom;
  let hovered = -1;
  let found: Uint8Array | null = null;
  let view = viewOf(zoom);
  let context: CanvasRenderingContext2D | null = null;
  let font = '';
  let letter = 7;
  let colors = { text: '', line: '', dim: '', found: '', background: '' };
  let wanted = false;

  function viewOf(node: number): { from: number; to: number } {
    const at = layout.place[node] ?? -1;
    return at < 0 ? { from: 0, to: total || 1 } : { from: layout.x0[at], to: layout.x1[at] };
  }

  const top = (level: number): number =>
    (options.rootBelow ? (layout.levels - 1 - level) * kRow : level * kRow) + 1 - element.scrollTop;

  function draw(): void {
    wanted = false;
    if (!context || width === 0) return;
    const started = performance.now();
    const scale = width / (view.to - view.from);
    const pixel = 1 / scale;
    context.fillStyle = colors.background;
    context.fillRect(0, 0, width, height);
    context.font = font;
    context.textBaseline = 'middle';
    const zoomDepth = depth[zoom];
    for (let level = 0; level < layout.levels; ++level) {
      const y = top(level);
      if (y + kRow < 0 || y > height) continue;
      const end = layout.begin[level + 1];
      let at = firstAfter(layout, layout.begin[level], end, view.from);
      context.globalAlpha = level < zoomDepth ? 0.55 : 1;
      while (at < end && layout.x0[at] < view.to) {
        const x = (layout.x0[at] - view.from) * scale;
        const right = (layout.x1[at] - view.from) * scale;
        if (right - x >= 1) {
          drawFrame(context, layout.node[at++], Math.max(0, x), Math.min(width, right), y);
          continue;
        }
        // Merges the frame at this pixel with the following frames, up to the next frame that is at least one pixel
        // wide.
        let last = right;
        let marked = false;
        while (at < end && layout.x0[at] < view.to && layout.x1[at] - layout.x0[at] < pixel) {
          if (layout.x0[at] - view.from > last / scale + pixel) break;
          marked ||= found !== null && found[layout.node[at]] === 1;
          last = Math.max(x + 1, (layout.x1[at] - view.from) * scale);
          const next = firstAfter(layout, at + 1, end, layout.x0[at] + pixel);
          at = Math.max(at + 1, Math.min(next, end));
        }
        context.fillStyle = marked ? colors.found : colors.dim;
        context.fillRect(x, y, Math.max(1, last - x), kRow - 1);
      }
    }
    context.globalAlpha = 1;
    outline(hovered, colors.line);
    if (document.activeElement === canvas) outline(selected, css('--accent'));
    lastDraw = performance.now() - started;
  }

  function drawFrame(to: CanvasRenderingContext2D, node: number, x: number, right: number, y: number): void {
    const matched = found === null || found[node] === 1;
    to.fillStyle = found !== null && matched ? colors.found : options.color(node);
    if (!matched) to.globalAlpha *= 0.45;
    const room = right - x - (right - x > 3 ? 1 : 0);
    to.fillRect(x, y, room, kRow - 1);
    if (!matched) to.globalAlpha /= 0.45;
    const letters = Math.floor((room - 7) / letter);
    if (letters < 3) return;
    const name = options.name(node);
    to.fillStyle = found !== null && matched ? '#1b1300' : colors.text;
    to.fillText(name.length <= letters ? name : `${name.slice(0, letters - 1)}…`, x + 4, y + kRow / 2, room - 6);
  }

  function outline(node: number, color: string): void {
    const at = node < 0 ? -1 : layout.place[node];
    if (!context || at < 0) return;
    const scale = width / (view.to - view.from);
    const x = Math.max(0, (layout.x0[at] - view.from) * scale);
    const right = Math.min(width, (layout.x1[at] - view.from) * scale);
    if (right < x) return;
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.strokeRect(x + 1, top(depth[node]) + 1, Math.max(1, right - x - 3), kRow - 3);
  }

  let lastDraw = 0;
  function request(): void {
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(draw);
  }

  function zoomTo(node: number): void {
    if (node < 0) return;
    const from = view;
    const to = viewOf(node);
    zoom = node;
    selected = node;
    options.zoomed(node);
    options.selected(node);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      view = to;
      request();
      return;
    }
    const begun = performance.now();
    let before = begun;
    const step = (): void => {
      const now = performance.now();
      const part = Math.min(1, (now - begun) / kZoomTime);
      const eased = 1 - (1 - part) ** 3;
      view = { from: from.from + (to.from - from.from) * eased, to: from.to + (to.to - from.to) * eased };
      draw();
      frameTimes.push({ draw: lastDraw, interval: now - before });
      before = now;
      if (part < 1 && element.isConnected) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function nodeUnder(event: MouseEvent): number {
    const box = canvas.getBoundingClientRect();
    const y = event.clientY - box.top + element.scrollTop;
    const row = Math.floor((y - 1) / kRow);
    const level = options.rootBelow ? layout.levels - 1 - row : row;
    return nodeAt(layout, level, view.from + ((event.clientX - box.left) / width) * (view.to - view.from));
  }

  function select(node: number): void {
    if (node < 0) return;
    selected = node;
    const y = top(depth[node]);
    if (y < 0) element.scrollTop += y - kRow;
    else if (y + kRow > height) element.scrollTop += y + 2 * kRow - height;
    options.selected(node);
    request();
  }

  function step(key: string): number {
    const at = layout.place[selected];
    const level = depth[selected];
    if (key === 'ArrowLeft') return at > layout.begin[level] ? layout.node[at - 1] : -1;
    if (key === 'ArrowRight') return at + 1 < layout.begin[level + 1] ? layout.node[at + 1] : -1;
    const outwards = (key === 'ArrowDown') === options.rootBelow;
    if (outwards) return parent[selected];
    const child = nodeAt(layout, level + 1, layout.x0[at]);
    return child >= 0 && parent[child] === selected ? child : -1;
  }

  canvas.addEventListener('mousemove', (event) => {
    const node = nodeUnder(event);
    if (node !== hovered) request();
    hovered = node;
    if (node < 0) hideTooltip();
    else showTooltip(event.clientX, event.clientY, options.tooltip(node));
  });
  canvas.addEventListener('mouseleave', () => {
    hovered = -1;
    hideTooltip();
    request();
  });
  canvas.addEventListener('click', (event) => zoomTo(nodeUnder(event)));
  canvas.addEventListener('focus', request);
  canvas.addEventListener('blur', request);
  canvas.addEventListener('keydown', (event) => {
    if (event.key.startsWith('Arrow')) select(step(event.key));
    else if (event.key === 'Enter' || event.key === ' ') zoomTo(selected);
    else if (event.key === 'Escape' && zoom !== 0) zoomTo(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener('scroll', request);

  onWidth(element, (now) => {
    width = now;
    context = sized(canvas, width, height);
    font = `12px ${css('--mono')}`;
    context.font = font;
    letter = context.measureText('mmmmmmmmmm').width / 10;
    colors = {
      text: css('--flame-text'),
      line: css('--text'),
      dim: css('--flame-dim'),
      found: css('--found'),
      background: css('--surface'),
    };
    if (options.rootBelow) element.scrollTop = spacer.clientHeight;
    draw();
  });

  return {
    element,
    mark: (now) => {
      found = now;
      request();
    },
    zoomTo,
  };
}
