// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that a large report stays usable, and that it says which data it leaves out. Prints times in milliseconds. The
// limits are generous: even on a slow and busy machine, only work that is proportional to the size of the trace exceeds
// them. docs/BENCHMARKS.md has the measured values.
import { goTo, settle } from './reading.mjs';

const kRounds = 4; // maximum number of rounds; the fastest round counts
const kMedianFrame = 250; // maximum median time of a frame in ms
const kSlowestAnswer = 10000; // maximum time in ms between a key press and the new page
const kMostRows = 150; // maximum number of rows for which a table creates elements

async function frames(page, act) {
  await page.evaluate(() => {
    const times = (window.frames_ = []);
    let before = performance.now();
    const step = (now) => {
      times.push(now - before);
      before = now;
      if (window.frames_ === times) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  await act();
  const times = await page.evaluate(() => {
    const measured = window.frames_;
    window.frames_ = null;
    return measured.slice(1);
  });
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return { count: times.length, median: at(0.5), high: at(0.95), most: at(1) };
}

async function brushing(page) {
  await goTo(page, '#timeline');
  const box = await page.locator('.u-over').first().boundingBox();
  const y = box.y + box.height / 2;
  for (const [from, to] of [
    [0.1, 0.9],
    [0.3, 0.6],
  ]) {
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, y, { steps: 30 });
    await page.mouse.up();
    await page.waitForTimeout(300);
    await page.mouse.move(box.x + box.width * 0.2, y, { steps: 20 });
  }
  await page.keyboard.press('r');
}

async function scrolling(page, checks) {
  await goTo(page, '#tables/sites');
  const box = await page.locator('[data-table=sites] .table').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let step = 0; step < 30; ++step) {
    await page.mouse.wheel(0, 240);
    await page.waitForTimeout(16);
  }
  const made = await page.locator('[data-table=sites] tbody tr').count();
  checks.ok(made > 1 && made < kMostRows, `a table makes ${made} rows of those that are in sight`);
}

async function sorting(page) {
  await goTo(page, '#tables/sites');
  for (const key of ['hits', 'name', 'allocated', 'live', 'allocated']) {
    await page.click(`[data-focus="sites-${key}"]`);
    await page.waitForTimeout(120);
  }
  await page.fill('[data-focus="sites-filter"]', '1');
  await page.fill('[data-focus="sites-filter"]', '');
}

async function zooming(page) {
  await goTo(page, '#flame');
  const canvas = page.locator('.flame canvas');
  const box = await canvas.boundingBox();
  for (const [x, row] of [
    [0.1, 1],
    [0.5, 2],
    [0.4, 4],
  ]) {
    await page.mouse.move(box.x + box.width * x, box.y + row * 19 + 9, { steps: 10 });
    await page.mouse.click(box.x + box.width * x, box.y + row * 19 + 9);
    await page.waitForTimeout(300);
  }
  await canvas.focus();
  await page.keyboard.press('Escape');
  await page.waitForTimeout(300);
}

// Returns the time in ms from the key press that selects a page until the page is painted.
async function answer(page, key) {
  let best = Infinity;
  for (let round = 0; round < kRounds && best >= kSlowestAnswer; ++round) {
    await page.keyboard.press('1');
    await settle(page);
    const taken = await page.evaluate(
      (pressed) =>
        new Promise((done) => {
          const begun = performance.now();
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true }));
          requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
        }),
      key,
    );
    best = Math.min(best, taken);
  }
  return best;
}

export async function staysFluid(page, checks) {
  for (const act of [brushing, scrolling, sorting, zooming]) {
    // Use the fastest of several rounds, because other programs can only make a round slower.
    let best = await frames(page, () => act(page, checks));
    let rounds = 1;
    for (; rounds < kRounds && best.median >= kMedianFrame; ++rounds) {
      const again = await frames(page, () => act(page, checks));
      if (again.median < best.median) best = again;
    }
    const { count, median, high, most } = best;
    console.log(
      `  ${act.name}: ${count} frames, half within ${median.toFixed(0)} ms, 95 % within ${high.toFixed(0)} ms, longest ${most.toFixed(0)} ms; best of ${rounds}`,
    );
    checks.ok(median < kMedianFrame, `${act.name}: half of the frames take ${median.toFixed(1)} ms`);
  }
  for (const [at, name] of ['timeline', 'flame', 'tables', 'waste', 'lifetimes', 'cpus', 'leaks'].entries()) {
    const taken = await answer(page, String(at + 2));
    console.log(`  ${name} is shown after ${taken.toFixed(0)} ms`);
    checks.ok(taken < kSlowestAnswer, `${name} is shown after ${taken.toFixed(0)} ms`);
  }
}

// Rare sizes and lifetimes are merged for all call sites. The pages of a single call site must state that they lack the
// rare sizes and lifetimes.
export async function showsRareOnes(page, checks) {
  await goTo(page, '#tables/sites');
  const names = await page
    .locator('[data-table=sites] td[data-column=name]')
    .evaluateAll((all) => all.map((cell) => cell.dataset.value));
  const site = names.find((name) => name !== '(others)');
  if (!checks.ok(site, 'call sites are shown')) return;
  for (const [name, what] of [
    ['waste', 'Rare sizes'],
    ['lifetimes', 'Rare lifetimes'],
  ])
    for (const wanted of [site, 'of_no_trace']) {
      await goTo(page, `#${name}?site=${encodeURIComponent(wanted)}`);
      const text = await page.locator('main').innerText();
      checks.ok(text.includes(`${what} of this call site are not counted here`), `${name} of ${wanted} states this`);
      checks.ok(
        !/left by the filters|filters leave/.test(text),
        `${name} of ${wanted} does not say that there is none`,
      );
    }
  await goTo(page, '#overview');
}
