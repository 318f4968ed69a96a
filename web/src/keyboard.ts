// SPDX-License-Identifier: GPL-2.0-or-later
import type { App } from './app';
import { kNoFilter } from './data/filter';
import { showHelp } from './help';
import { kPages } from './state';
import { switchTheme } from './theme';

// Only some reports have the page of findings. It gets no number, so each page has the same number in every report.
const kNumbered = kPages.filter((page) => page !== 'findings');

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
  else if (key === '?') showHelp();
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
