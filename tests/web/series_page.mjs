// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the page of a made-up week of snapshots and opens it in Chromium. The planted events and the leak must be on
// the page, and the plot must be zoomable.
//   node series_page.mjs KMEMTRACE MODULES CHROMIUM FOLDER
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, open } from './browser.mjs';
import { Checks } from './checks.mjs';

const [kmemtrace, modules, chromium, folder] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const kMostBytes = 4 << 20; // of the page
const checks = new Checks('series page');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const whole = path.join(folder, 'whole.kmt');
const series = path.join(folder, 'week.kmt');
const html = path.join(folder, 'week.html');
const planted = JSON.parse(
  execFileSync('python3', ['-B', path.join(here, '../support/week_series.py'), whole], { encoding: 'utf8' }),
);
// convert --anonymise writes the series again, with differences instead of whole samples.
execFileSync(kmemtrace, ['convert', '--anonymise', whole, series]);
execFileSync(kmemtrace, ['report', series, '--html', html]);
checks.ok(statSync(html).size < kMostBytes, `the page has ${statSync(html).size} bytes`);

const time = (sample) =>
  new Date(planted.start_unix_ns / 1e6 + (sample * planted.interval_ns) / 1e6)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');

const browser = await launch(modules, chromium);
const { page, wrongs, close } = await open(browser, html);
const cells = (place) =>
  page.$$eval(`${place} tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const events = await cells('#events');
const has = (start, what) => events.some((row) => row[0] === start && row[2].includes(what));
checks.ok(has(time(planted.boot), 'boot'), 'the boot is marked');
checks.ok(has(time(planted.oom), '2 OOM kills'), 'the OOM kills are marked');
const alert = events.find((row) => row[0] === time(planted.alert[0]));
checks.ok(alert && /: \d+\.\d %$/.test(alert[2]), 'the value of the alert is a share');
checks.ok(alert && alert[1] === time(planted.alert[1] - 1), `the alert is marked: ${events.join(' | ')}`);
const growth = await cells('#growth');
checks.ok(
  growth.some((row) => row[1] === planted.leak && row[6] === 'certain'),
  'the leak is named',
);

const band = (id) =>
  page.evaluate((wanted) => {
    const data = JSON.parse(document.getElementById('data').textContent);
    const found = data.bands.find((one) => one.id === wanted);
    return {
      parts: found.most.length,
      most: Math.max(...found.most),
      typical: found.most[0],
    };
  }, id);
const user = await band('user');
checks.ok(user.parts === 2048, `the time has ${user.parts} parts`);
checks.ok(user.most - user.typical > 2.9 * 2 ** 30, 'a peak of one sample is in the data');

const visible = () => page.evaluate(() => window.kmemtrace.visible());
const isDrawn = () =>
  page.evaluate(() => {
    const canvas = document.getElementById('plot');
    const blank = Object.assign(document.createElement('canvas'), {
      width: canvas.width,
      height: canvas.height,
    });
    return canvas.toDataURL().length > blank.toDataURL().length + 200;
  });
checks.ok(await isDrawn(), 'the plot is drawn');
const [first, last] = await visible();
const box = await page.locator('#plot').boundingBox();
const drag = async (from, to) => {
  await page.mouse.move(box.x + box.width * from, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 120, { steps: 4 });
  await page.mouse.up();
};
await drag(0.25, 0.5);
const [begin, end] = await visible();
// A drag that started outside the plot, and one that the browser cancels, do not zoom.
await page.mouse.move(box.x + box.width / 2, box.y - 10);
await page.mouse.down();
await page.mouse.move(box.x + box.width / 2, box.y + 100, { steps: 4 });
await page.mouse.up();
checks.ok((await visible()).join() === [begin, end].join(), 'a drag from outside does not zoom');
await page.mouse.move(box.x + box.width / 4, box.y + 100);
await page.mouse.down();
await page.locator('#plot').dispatchEvent('pointercancel');
await page.mouse.move(box.x + box.width / 2, box.y + 100, { steps: 4 });
await page.mouse.up();
checks.ok((await visible()).join() === [begin, end].join(), 'a cancelled drag does not zoom');
const share = (end - begin) / (last - first);
checks.ok(Math.abs(share - 0.25) < 0.02 && begin > first, `dragging zooms to ${share}`);
checks.ok(await isDrawn(), 'the zoomed plot is drawn');
for (let i = 0; i < 12; ++i) await drag(0.4, 0.6);
const [near, far] = await visible();
checks.ok(far - near < 3600e3, 'an hour fills the plot');
checks.ok(await isDrawn(), 'the closest plot is drawn');
await page.locator('#all').click();
checks.ok((await visible()).join() === [first, last].join(), 'the whole time is shown again');
await page.locator('#plot').focus();
await page.keyboard.press('+');
const [left, right] = await visible();
checks.ok(Math.abs((right - left) / (last - first) - 0.5) < 0.01, 'a key zooms');
await page.mouse.move(box.x + box.width / 2, box.y + 50);
checks.ok((await page.locator('#hint').textContent()).includes('iB'), 'the amounts under the pointer are shown');
if (process.env.KMEMTRACE_SHOTS) {
  await page.locator('#all').click();
  await page.screenshot({
    path: path.join(process.env.KMEMTRACE_SHOTS, 'series.png'),
    fullPage: true,
  });
}
checks.ok(wrongs.length === 0, wrongs.join('; '));
await close();
await browser.close();
console.log(`${checks.passed} checks passed, ${checks.failures.length} failed`);
process.exitCode = checks.failures.length ? 1 : 0;
