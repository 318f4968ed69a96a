// SPDX-License-Identifier: GPL-2.0-or-later
// Live memory that may already be freed, because some of its frees have no event. Its live counts are upper bounds.
import { allocatorNumber, kAllocators } from './allocators';
import type { KeyValue, LeakRow, Leaks } from './document';
import type { Model } from './model';
import { keyName } from './rows';

// Reasons why memory may already be freed. With any other reason of doubt, memory is live, but its growth is explained.
const kMayBeFreed = [
  'frees-not-recorded',
  'tasks-selected',
  'lost-stretch',
  'incomplete-trace',
  'reallocated',
  'untraced-path',
];
const kLeastShare = 0.01; // smaller parts do not change the displayed numbers

interface Part {
  live: number;
  doubtful: number;
}

// Returns the call site under which the model stores a row of `leaks`: its caller, or a function in its stack.
function siteOf(row: LeakRow, isKnown: (site: string) => boolean): string | null {
  const keys = row.keys ?? {};
  const stack = (Array.isArray(keys['stack']) ? keys['stack'] : []) as KeyValue[];
  const names = [keys['caller'], keys['call-site'], ...stack].map(keyName);
  return names.find(isKnown) ?? null;
}

function partsBySite(leaks: Leaks, model: Omit<Model, 'possiblyFreed'>): Map<string, Part> {
  const { allocator, site } = model.keys;
  const known = new Set<string>();
  for (let group = 0; group < model.groups; ++group)
    known.add(`${allocator[group]} ${model.explore.strings[site[group]]}`);
  const parts = new Map<string, Part>();
  for (const name of kAllocators) {
    const number = allocatorNumber(name);
    for (const row of leaks.groups[name]?.rows ?? []) {
      const found = siteOf(row, (one) => known.has(`${number} ${one}`));
      if (found === null) continue;
      const part = parts.get(`${number} ${found}`) ?? { live: 0, doubtful: 0 };
      part.live += row.live_bytes ?? 0;
      for (const doubt of row.uncertain) if (kMayBeFreed.includes(doubt.reason)) part.doubtful += doubt.bytes;
      parts.set(`${number} ${found}`, part);
    }
  }
  return parts;
}

// Returns the bytes of each group that look live at the end, but may be freed. These bytes are known only by call site,
// and are divided among the groups of a call site by their live bytes.
export function possiblyFreed(leaks: Leaks | null, model: Omit<Model, 'possiblyFreed'>): Float64Array {
  const bytes = new Float64Array(model.groups);
  if (!leaks) return bytes;
  const parts = partsBySite(leaks, model);
  const { begin, allocated, freed } = model.changes;
  for (let group = 0; group < model.groups; ++group) {
    const part = parts.get(`${model.keys.allocator[group]} ${model.explore.strings[model.keys.site[group]]}`);
    if (!part || part.doubtful === 0) continue;
    let live = 0;
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry) live += allocated[entry] - freed[entry];
    bytes[group] = Math.max(0, live) * Math.min(1, part.doubtful / Math.max(1, part.live));
  }
  return bytes;
}

// True if the live bytes of these groups are an upper bound.
export function isUpperBound(model: Model, groups: Iterable<number>, liveBytes: number | null): boolean {
  let doubtful = 0;
  for (const group of groups) doubtful += model.possiblyFreed[group];
  return doubtful > 0 && doubtful >= kLeastShare * (liveBytes ?? 0);
}
