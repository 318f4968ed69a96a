// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts the memory of each allocator into four classes by the selected time: when it was allocated, and when it ended.
import type { Filter, Range } from './filter';
import { coarseRange } from './grids';
import type { Model } from './model';

// Bytes of an allocator. Memory from before the trace is not counted.
export interface WindowClasses {
  leftLive: number; // allocated in the range, live at its end
  freedInside: number; // allocated and freed in the range
  freedOlder: number; // allocated before the range, freed in it
  throughout: number; // allocated before the range, live at its end
}

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

// Returns the classes of an allocator. Filters other than the time have no effect.
export function windowClasses(model: Model, filter: Filter, allocator: number): WindowClasses {
  const range = windowRange(model, filter);
  const width = livesWidth(model);
  const { bucket, allocated, freed, begin } = model.changes;
  let liveAtStart = 0;
  let allocatedInside = 0;
  for (let group = 0; group < model.groups; ++group) {
    if (model.keys.allocator[group] !== allocator) continue;
    for (let entry = begin[group]; entry < begin[group + 1]; ++entry) {
      if (bucket[entry] < range.from) liveAtStart += allocated[entry] - freed[entry];
      else if (bucket[entry] < range.to) allocatedInside += allocated[entry];
    }
  }
  let freedInside = 0;
  let freedOlder = 0;
  const { lives } = model.explore;
  for (let at = 0; at < lives.allocator.length; ++at) {
    const ended = lives.ended[at] * width;
    if (lives.allocator[at] !== allocator || ended < range.from || ended >= range.to) continue;
    if (lives.began[at] * width < range.from) freedOlder += lives.bytes[at];
    else freedInside += lives.bytes[at];
  }
  return {
    leftLive: allocatedInside - freedInside,
    freedInside,
    freedOlder,
    throughout: liveAtStart - freedOlder,
  };
}
