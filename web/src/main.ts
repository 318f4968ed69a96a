// SPDX-License-Identifier: GPL-2.0-or-later
import { App } from './app';
import { decode } from './data/decode';
import { drawPage } from './page';
import { startKeyboard } from './keyboard';
import { startTheme } from './theme';
import { frameTimes } from './widgets/flame';
import { el } from './widgets/dom';
import { livePlots } from './widgets/plot';

declare global {
  interface Window {
    kmemtrace: { ready: boolean; frameTimes: typeof frameTimes; livePlots: typeof livePlots };
  }
}

window.kmemtrace = { ready: false, frameTimes, livePlots };

async function start(): Promise<void> {
  const data = document.getElementById('kmemtrace-data');
  const text = data?.textContent ?? '';
  if (text.trim().startsWith('@')) throw new Error('this page has no trace');
  const document_ = await decode(text);
  data?.remove();
  const app = new App(document_, drawPage);
  startTheme(app);
  startKeyboard(app);
  app.redraw();
  window.kmemtrace.ready = true;
}

start().catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error);
  document.body.replaceChildren(el('main', { class: 'failed', role: 'alert' }, `The report cannot be shown: ${why}`));
});
