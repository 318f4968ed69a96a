// SPDX-License-Identifier: GPL-2.0-or-later
import type { AllocatorName } from './document';

// The index is the allocator's number in the document's columns.
export const kAllocators: AllocatorName[] = ['slab', 'percpu', 'vmalloc', 'pages'];

export const kAllocatorTitles: Record<AllocatorName, string> = {
  slab: 'Slab',
  percpu: 'Percpu',
  vmalloc: 'Vmalloc',
  pages: 'Pages',
};

export function allocatorNumber(name: string | null): number {
  return kAllocators.indexOf(name as AllocatorName);
}
