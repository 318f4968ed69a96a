// SPDX-License-Identifier: GPL-2.0-or-later
// Shows findings of an investigation that are no growth: the objects in large slab caches, page frames, removed
// cgroups, and health checks that are not ok.
import type { DyingCgroups, HealthCheck, Investigation, KernelPages, LargeCache, ObjectKind } from '../data/document';
import { bytes, count, percent, printable } from '../text';
import { note, section } from '../widgets/controls';
import { el } from '../widgets/dom';

const kMostRows = 5;

function kindItem(kind: ObjectKind): HTMLElement {
  const structure = kind.structure !== null && kind.structure_confidence !== 'low' ? ` (struct ${kind.structure})` : '';
  const from = kind.module === null ? 'unknown module' : kind.module === 'vmlinux' ? 'the kernel itself' : kind.module;
  const example = kind.examples.at(0);
  return el(
    'li',
    {},
    printable(`${percent(100 * kind.share)}, ${bytes(kind.bytes)}: ${kind.kind}${structure}, ${from}`),
    example ? el('pre', { class: 'stack' }, printable(`drgn   ${example.drgn}\ncrash  ${example.crash}`)) : null,
  );
}

function largeCache(cache: LargeCache): HTMLElement {
  return el(
    'div',
    {},
    el('h3', {}, printable(cache.cache)),
    cache.objects && el('ul', {}, ...cache.objects.kinds.slice(0, kMostRows).map(kindItem)),
    ...(cache.objects?.notes ?? []).map((text) => note(printable(text))),
  );
}

function grown<Row extends { before: number; after: number }>(rows: Row[], name: (row: Row) => string): string {
  return rows
    .filter((row) => row.after > row.before)
    .slice(0, kMostRows)
    .map((row) => `${printable(name(row))}: +${bytes(row.after - row.before)}`)
    .join('; ');
}

function kernelPages(pages: KernelPages): HTMLElement {
  const lines = [
    ['By order', grown(pages.orders, (row) => String(row.order))],
    ['By flags', grown(pages.flags, (row) => row.flags)],
    ['By cgroup', grown(pages.cgroups, (row) => row.cgroup ?? 'no cgroup, or a removed one')],
  ];
  return section(
    'Kernel pages that are neither slab nor page tables',
    el('p', {}, `From ${bytes(pages.before)} to ${bytes(pages.after)}.`),
    el('ul', {}, ...lines.filter(([, text]) => text !== '').map(([label, text]) => el('li', {}, `${label}: ${text}`))),
  );
}

function dyingItem(row: DyingCgroups): HTMLElement {
  const amounts = [
    ['kernel', row.kernel_bytes],
    ['slab', row.slab_bytes],
    ['percpu', row.percpu_bytes],
    ['file', row.file_bytes],
  ] as const;
  const known = amounts.flatMap(([label, amount]) => (amount === null ? [] : [`${label} ${bytes(amount)}`]));
  const held = known.length > 0 ? `, at most: ${known.join(', ')}` : '';
  return el('li', {}, printable(`${count(row.count)} below ${row.below}${held}`));
}

function checkItem(check: HealthCheck): HTMLElement {
  const value = check.value ?? 0;
  const amount = check.unit === 'share' ? percent(100 * value) : check.unit === 'count' ? count(value) : bytes(value);
  const held = check.bytes === null ? '' : `, ${bytes(check.bytes)}`;
  const subject = check.subject === null ? '' : ` (${check.subject})`;
  return el('li', {}, printable(`${check.health}: ${check.id}${subject}: ${amount}${held}. ${check.reason}`));
}

export function inspectionSections(found: Investigation): (HTMLElement | null)[] {
  const unhealthy = found.health.filter((check) => check.health === 'warn' || check.health === 'bad');
  const pages = found.kernel_pages;
  return [
    found.large_caches.length > 0 ? section('Large slab caches', ...found.large_caches.map(largeCache)) : null,
    pages && pages.after > pages.before ? kernelPages(pages) : null,
    found.dying_cgroups.length > 0
      ? section(
          'Removed cgroups that still hold memory',
          el('ul', {}, ...found.dying_cgroups.slice(0, kMostRows).map(dyingItem)),
        )
      : null,
    unhealthy.length > 0 ? section('Health checks', el('ul', {}, ...unhealthy.map(checkItem))) : null,
  ];
}
