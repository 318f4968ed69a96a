// SPDX-License-Identifier: GPL-2.0-or-later
// Uses the page of an investigation like a person.
import { settle } from './reading.mjs';

// A call site that started during the investigation. The investigation has 64 steps of half a second, and the site
// grows in the second half.
export async function tellsSinceWhen(page, checks) {
  const row = page.locator('tr', { has: page.locator('[data-column=name][data-value=began-late]') });
  const told = await row.locator('[data-column=judged]').innerText();
  const since = Number(/^since (\d+) s$/.exec(told)?.[1]);
  checks.ok(Math.abs(since - 16) <= 1, `began-late grows "${told}"`);
}

// Each claim must link to its numbers: a row, or the heading of a section, receives the focus and is visible.
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
