// SPDX-License-Identifier: GPL-2.0-or-later
// A box next to the pointer. It is hidden from screen readers, because they can read the text elsewhere on the page.
import { el } from './dom';

let box: HTMLElement | null = null;

// The first line is the title. Each other line is a text, or a name and a value.
export function showTooltip(x: number, y: number, lines: (string | [string, string])[]): void {
  box ??= el('div', { class: 'tooltip', 'aria-hidden': 'true' });
  if (!box.isConnected) document.body.append(box);
  box.replaceChildren(
    ...lines.map((line, number) =>
      typeof line === 'string'
        ? el('div', { class: number === 0 ? 'title' : '' }, line)
        : el('div', { class: 'pair' }, el('span', {}, line[0]), el('b', {}, line[1])),
    ),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}
