// SPDX-License-Identifier: GPL-2.0-or-later
import { el } from './dom';

// Returns a hint that is visible while the content of a frame is wider than the frame.
export function scrollHint(frame: HTMLElement): HTMLElement {
  const hint = el('p', { class: 'scroll-hint', hidden: true }, 'Scroll sideways to see all columns →');
  const observer = new ResizeObserver(() => {
    if (!frame.isConnected) observer.disconnect();
    else hint.hidden = frame.scrollWidth <= frame.clientWidth + 1;
  });
  observer.observe(frame);
  for (const content of frame.children) observer.observe(content);
  return hint;
}
