// SPDX-License-Identifier: GPL-2.0-or-later
// Operates the page of an investigation like a user.
import { goTo, settle } from './reading.mjs';

// A call site that starts to allocate during the investigation. The investigation has 64 steps of half a second, and
// the site grows in the second half.
export async function showsSinceWhen(page, checks) {
  const row = page.locator('tr', { has: page.locator('[data-column=name][data-value=began-late]') });
  const shown = await row.locator('[data-column=judged]').innerText();
  const since = Number(/^since (\d+) s$/.exec(shown)?.[1]);
  checks.ok(Math.abs(since - 16) <= 1, `began-late grows "${shown}"`);
}

// The header must show two durations: that of the investigation and that of its recording. The page about the recording
// must not contradict the verdict of the investigation.
export async function wholeInvestigationCounts(page, checks) {
  const facts = Object.fromEntries(
    await page
      .locator('.facts > div')
      .evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.innerText))),
  );
  checks.equal(facts['Watched for'], '32.0 s', 'time of the investigation in the header');
  if (!(await page.locator('#tab-overview').count())) return;
  checks.ok(facts['Recorded for']?.endsWith(' ms'), `time of the recording in the header: ${facts['Recorded for']}`);
  checks.equal(facts['Duration'], undefined, 'no other time in the header');
  const verdict = await page.locator('[data-found]').innerText();
  await goTo(page, '#overview');
  const growth = await page.locator('li[data-kind=growth]').innerText();
  checks.ok(growth.startsWith(verdict), `the overview leads with "${verdict}": "${growth}"`);
  await page.locator('li[data-kind=growth] .link').click();
  await settle(page);
  checks.equal(await page.getAttribute('[aria-selected=true]', 'id'), 'tab-findings', 'growth leads to the findings');
}

// Below a sum, its parts must be indented.
export async function balanceIsIndented(page, checks) {
  const labels = page.locator('[data-table=finding-balance] td[data-column=label]');
  if ((await labels.count()) === 0) return;
  const lefts = await labels.evaluateAll((cells) =>
    Object.fromEntries(
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell.querySelector('.indented').firstChild);
        return [cell.dataset.value, range.getBoundingClientRect().left];
      }),
    ),
  );
  const moved = lefts['objects in use'] - lefts['slab'];
  checks.ok(moved > 8, `"objects in use" is to the right of "slab": ${moved} pixels`);
}

// Each claim must link to its numbers: a click gives the focus to a row or to the heading of a section, and scrolls to
// it.
export async function claimsLead(page, checks) {
  const claims = await page.locator('a.claim').all();
  checks.ok(claims.length >= 4, `claims that lead to numbers: ${claims.length}`);
  for (const claim of claims) {
    const text = await claim.innerText();
    await page.locator('[data-focus=finding-states-filter]').fill('no such cache');
    await claim.click();
    await settle(page);
    const led = await page.evaluate(() => {
      const { tagName, id, dataset } = document.activeElement;
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      const name = document.activeElement.querySelector('[data-column=name]')?.dataset.value;
      return { tagName, id, focus: dataset.focus, name, seen: bottom > 0 && top < window.innerHeight };
    });
    checks.ok(led.seen, `"${text}" leads to what is in sight`);
    if (/counters| in kmalloc-1k/.test(text)) checks.equal(led.name, 'kmalloc-1k', `"${text}" leads to the row`);
    else checks.ok(led.id.startsWith('finding-0'), `"${text}" leads to ${led.tagName} ${led.id}`);
  }
}
