// SPDX-License-Identifier: GPL-2.0-or-later
// Opens reports in Chromium. Records things that a report must not do: errors, requests to a network, dialogs.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { watchCanvases } from './geometry.mjs';

const kFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launch(modules, executablePath) {
  const { chromium } = createRequire(path.join(path.resolve(modules), 'x.js'))('playwright-core');
  return chromium.launch({ executablePath, headless: true, args: kFlags });
}

// Opens a page. `wrongs` receives the errors that occur in it, and must stay empty.
export async function open(browser, file, { width = 1280, height = 900, dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'no-preference',
  });
  await watchCanvases(context);
  const page = await context.newPage();
  const wrongs = [];
  const own = pathToFileURL(path.resolve(file)).href;
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) wrongs.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (url.split('#')[0] !== own && !url.startsWith('data:,')) wrongs.push(`request: ${url.slice(0, 200)}`);
  });
  await page.goto(own);
  await page.waitForFunction(() => window.kmemtrace?.ready === true, null, { timeout: 30000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  // Returns the milliseconds from the start of the navigation until the page was drawn.
  const opened = Math.round(await page.evaluate(() => performance.now()));
  return { page, wrongs, opened, close: () => context.close() };
}
