// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the light or dark theme. The default is the system's theme; users can change it.
import type { App } from './app';

type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme | null = null;

export function theme(): Theme {
  return chosen ?? (system.matches ? 'dark' : 'light');
}

function apply(): void {
  document.documentElement.dataset['theme'] = theme();
}

export function switchTheme(app: App): void {
  chosen = theme() === 'dark' ? 'light' : 'dark';
  apply();
  app.redraw();
}

export function startTheme(app: App): void {
  apply();
  system.addEventListener('change', () => {
    apply();
    app.redraw();
  });
}
