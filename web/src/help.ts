// SPDX-License-Identifier: GPL-2.0-or-later
import { el } from './widgets/dom';

const kKeys: [string, string][] = [
  ['1 … 9, 0', 'go to a page'],
  ['f', 'go to the findings of an investigation'],
  ['c', 'go to the calls of kernel functions'],
  ['← →', 'go to the previous page, the next page'],
  ['/', 'search or filter'],
  ['r', 'show the whole time range again'],
  ['x', 'remove all filters'],
  ['s', 'switch between the two traces'],
  ['d', 'dark or light'],
  ['?', 'show this help'],
  ['Enter', 'in tables: filter everything by the row; in the flame graph: zoom'],
  ['↑ ↓ ← →', 'in tables and pictures: go from row to row, frame to frame, cell to cell'],
  ['Escape', 'in the flame graph: show all; close this'],
];

// Explanations of all terms that docs/concepts.md shows in bold type, in one sentence each.
const kTerms: [string, string][] = [
  ['page allocator', 'allocates contiguous pages, from which the other three allocators take their memory'],
  ['slab allocator', 'allocates small objects of one size, each from a cache'],
  ['percpu allocator', 'allocates one copy of an object for each possible CPU'],
  ['vmalloc', 'allocates a range of kernel addresses that is backed by single pages'],
  ['cache', 'a set of slab objects of one size, such as dentry or kmalloc-192'],
  ['call site', 'the address from which the allocator was called'],
  [
    'caller',
    'the first function in the stack that is not a helper such as kstrdup; known only if stacks were recorded',
  ],
  ['waste', 'allocated minus requested bytes: a request of 600 bytes gets an object of 1,024 bytes'],
  [
    'live at the end',
    'allocated in this trace and not freed before its end; with “≤” an upper bound: some frees have no event',
  ],
  ['older than the trace', 'allocated before the trace and freed in it, which is normal on a running system'],
  [
    'uncertain',
    'looks live, but its free may be missing: events were lost, or the kernel frees such objects without an event',
  ],
  ['certain', 'growth above the threshold that is not random, even if all uncertain bytes were freed'],
  ['reclaimable', 'page cache, dentries, inodes: the kernel frees them when memory is short'],
  ['explained', 'growth or an anomaly with a known, harmless cause, such as growth of reclaimable memory'],
  ['unaccounted', 'the part of MemTotal that no counter of the kernel covers'],
  ['anomaly', 'an event that contradicts an earlier one, such as a second free of one object'],
];

function list(title: string, entries: [string, string][], term: 'kbd' | 'b'): HTMLElement[] {
  const items = entries.flatMap(([name, text]) => [el('dt', {}, el(term, {}, name)), el('dd', {}, text)]);
  return [el('h2', {}, title), el('dl', {}, ...items)];
}

export function showHelp(): void {
  const close = (): void => dialog.close();
  const dialog = el(
    'dialog',
    { 'aria-label': 'Help', click: (event: MouseEvent) => event.target === dialog && close() },
    ...list('Keys', kKeys, 'kbd'),
    ...list('Terms', kTerms, 'b'),
    el('button', { type: 'button', class: 'action', click: close }, 'Close'),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
