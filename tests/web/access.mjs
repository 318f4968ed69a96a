// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that a page is accessible: enough contrast, names for controls, no horizontal scrolling.

// Returns what is not accessible: texts with a contrast below 4.5 (WCAG 2.1, 1.4.3), controls without a name, and
// elements wider than the window.
export function barriers(page) {
  return page.evaluate(() => {
    const found = [];
    const parse = (color) => (/[\d.]+/.test(color) ? color.match(/[\d.]+/g).map(Number) : [0, 0, 0, 0]);
    const luminance = (rgb) => {
      const [r, g, b] = rgb.map((part) => {
        const value = part / 255;
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
        if (a > 0.99) return [r, g, b];
      }
      return [255, 255, 255];
    };
    for (const element of document.querySelectorAll('body *')) {
      const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!text || element.closest('option, script, svg') || !element.getClientRects().length) continue;
      const [a, b] = [parse(getComputedStyle(element).color).slice(0, 3), ground(element)].map(luminance);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5)
        found.push(`contrast ${ratio.toFixed(2)} of "${element.textContent.slice(0, 30)}" (${element.className})`);
    }
    for (const element of document.querySelectorAll('button, input, select, canvas, [role]')) {
      if (element.closest('[aria-hidden=true]')) continue;
      const label =
        element.getAttribute('aria-label') || element.textContent.trim() || element.getAttribute('aria-labelledby');
      if (!label && !['status'].includes(element.getAttribute('role')))
        found.push(`no name: ${element.outerHTML.slice(0, 80)}`);
    }
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth)
      found.push(`${root.scrollWidth} pixels wide in a window of ${root.clientWidth}`);
    return [...new Set(found)].slice(0, 8);
  });
}
