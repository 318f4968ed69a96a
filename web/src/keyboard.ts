// SPDX-License-Identifier: GPL-2.0-or-later
import type { App } from './app';
import { kNoFilter } from './data/filter';
import { kPages } from './state';
import { switchTheme } from './theme';
import { el } from './widgets/dom';

// The same ones in every report.
const kNumbered = kPages.filter((page) => page !== 'findings');

const kKeys: [string, string][] = [
  ['1 … 9, 0', 'go to a page'],
  ['f', 'go to what an investigation found'],
  ['c', 'go to the calls of kernel functions'],
  ['← →', 'go to the page before, the next page'],
  ['/', 'search or filter'],
  ['r', 'show the whole time again'],
  ['x', 'take all filters away'],
  ['s', 'switch between the two traces'],
  ['d', 'dark or light'],
  ['?', 'show these keys'],
  ['Enter', 'in tables: filter everything by the row; in the flame graph: zoom'],
  ['↑ ↓ ← →', 'in tables and pictures: go from row to row, frame to frame, cell to cell'],
  ['Escape', 'in the flame graph: show all; close this'],
];

export function showKeys(): void {
  const close = (): void => dialog.close();
  const dialog = el(
    'dialog',
    { 'aria-label': 'Keys', click: (event: MouseEvent) => event.target === dialog && close() },
    el('h2', {}, 'Keys'),
    el('dl', {}, ...kKeys.flatMap(([key, does]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, does)])),
    el('button', { type: 'button', class: 'action', click: close }, 'Close'),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function goTo(app: App, step: number): void {
  const { pages, page } = app;
  app.set({ page: pages[(pages.indexOf(page) + step + pages.length) % pages.length] });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

function act(app: App, key: string): boolean {
  if (/^[0-9]$/.test(key)) {
    const page = kNumbered[(Number(key) + 9) % 10];
    if (!app.pages.includes(page)) return false;
    app.set({ page });
  } else if (key === 'f' && app.pages.includes('findings')) app.set({ page: 'findings' });
  else if (key === 'c' && app.pages.includes('calls')) app.set({ page: 'calls' });
  else if (key === 'ArrowLeft') goTo(app, -1);
  else if (key === 'ArrowRight') goTo(app, 1);
  else if (key === '/') {
    const field = document.querySelector<HTMLInputElement>('[data-search]');
    field?.focus();
    field?.select();
  } else if (key === 'r') app.setRange(null);
  else if (key === 'x') app.set({ filter: kNoFilter, callsOf: null });
  else if (key === 's' && app.document.traces.length > 1) app.set({ side: 1 - app.state.side });
  else if (key === 'd') switchTheme(app);
  else if (key === '?') showKeys();
  else return false;
  return true;
}

export function startKeyboard(app: App): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape') (event.target as HTMLElement).blur();
      return;
    }
    if (act(app, event.key)) event.preventDefault();
  });
}
