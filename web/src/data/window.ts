// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts memory into four classes by the selected time: when it was allocated, and when it ended.
import type { Dimension, Filter, Range } from './filter';
import { coarseRange } from './grids';
import type { Model } from './model';
import { groupsBy, type KeyGroups } from './sums';

// Bytes of some groups. Memory from before the trace is not counted.
export interface WindowClasses {
  leftLive: number; // allocated in the range, live at its end
  freedInside: number; // allocated and freed in the range
  freedOlder: number; // allocated before the range, freed in it
  throughout: number; // allocated before the range, live at its end
}

export type WindowRow = KeyGroups & WindowClasses;

// Returns how many buckets of `explore` are one bucket of `explore.lives`.
function livesWidth(model: Model): number {
  return Math.max(1, model.explore.lives_coarse);
}

// Returns the selected range in buckets of `explore`, extended to whole buckets of `explore.lives`.
export function windowRange(model: Model, filter: Filter): Range {
  const width = livesWidth(model);
  const { from, to } = coarseRange(model, filter, width);
  return { from: from * width, to: Math.min(model.buckets, to * width) };
}

// Returns the classes of these groups. `range` is a result of windowRange().
export function windowClasses(model: Model, groups: Iterable<number>, range: Range): WindowClasses {
  const width = livesWidth(model);
  const { changes, lives } = model;
  let liveAtStart = 0;
  let allocatedInside = 0;
  let endedInside = 0;
  let freedOlder = 0;
  for (const group of groups) {
    for (let entry = changes.begin[group]; entry < changes.begin[group + 1]; ++entry) {
      const bucket = changes.bucket[entry];
      if (bucket >= range.to) break;
      if (bucket < range.from) liveAtStart += changes.allocated[entry] - changes.freed[entry];
      else {
        allocatedInside += changes.allocated[entry];
        endedInside += changes.freed[entry];
      }
    }
    for (let entry = lives.begin[group]; entry < lives.begin[group + 1]; ++entry) {
      const ended = lives.ended[entry] * width;
      if (lives.began[entry] * width < range.from && ended >= range.from && ended < range.to)
        freedOlder += lives.bytes[entry];
    }
  }
  const freedInside = endedInside - freedOlder;
  return {
    leftLive: allocatedInside - freedInside,
    freedInside,
    freedOlder,
    throughout: liveAtStart - freedOlder,
  };
}

// Returns the classes of all groups that the filter selects, in a row for each value of a key and allocator.
export function windowRows(model: Model, dimension: Dimension, filter: Filter): WindowRow[] {
  const range = windowRange(model, filter);
  return groupsBy(model, dimension, filter)
    .map((row) => ({ ...row, ...windowClasses(model, row.groups, range) }))
    .filter((row) => row.leftLive || row.freedInside || row.freedOlder || row.throughout);
}
