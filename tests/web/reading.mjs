// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what a page shows, from its elements.

export async function goTo(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await settle(page);
}

export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30))));
}

// Returns all rows of a table, including those scrolled out of view. Each row is an object with one value per column;
// numeric cells are numbers.
export async function rowsOf(page, name) {
  return page.evaluate((table) => {
    const box = document.querySelector(`[data-table="${table}"]`);
    if (!box) return [];
    const frame = box.querySelector('.table');
    const rows = new Map();
    for (let top = 0; ; top += frame.clientHeight) {
      frame.scrollTop = top;
      frame.dispatchEvent(new Event('scroll')); // scroll without waiting for the next frame
      for (const row of box.querySelectorAll('tbody tr[aria-rowindex]')) {
        if (rows.has(Number(row.getAttribute('aria-rowindex')))) continue;
        const cells = {};
        for (const cell of row.querySelectorAll('td')) {
          const value = cell.dataset.value;
          cells[cell.dataset.column] =
            value === undefined ? null : cell.classList.contains('text') ? value : Number(value);
        }
        rows.set(Number(row.getAttribute('aria-rowindex')), cells);
      }
      if (top + frame.clientHeight >= frame.scrollHeight) break;
    }
    frame.scrollTop = 0;
    return [...rows].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
  }, name);
}

export async function valueOf(page, selector) {
  return page.evaluate((of) => {
    const value = document.querySelector(of)?.dataset.value;
    return value === undefined ? null : Number(value);
  }, selector);
}
