// SPDX-License-Identifier: GPL-2.0-or-later
// Uses the page of an investigation as a person would.
import { settle } from './reading.mjs';

// A site that started during the investigation: 64 steps of half a second, and it rises in the last half.
export async function tellsSinceWhen(page, checks) {
  const row = page.locator('tr', { has: page.locator('[data-column=name][data-value=began-late]') });
  const told = await row.locator('[data-column=judged]').innerText();
  const since = Number(/^since (\d+) s$/.exec(told)?.[1]);
  checks.ok(Math.abs(since - 16) <= 1, `began-late grows "${told}"`);
}

// Each claim leads to the numbers under it: a row, or the head of a part, gets the focus and is in sight.
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
    if (/account| in kmalloc-1k/.test(text)) checks.equal(led.name, 'kmalloc-1k', `"${text}" leads to the row`);
    else checks.ok(led.id.startsWith('finding-0'), `"${text}" leads to ${led.tagName} ${led.id}`);
  }
}
