// SPDX-License-Identifier: GPL-2.0-or-later
// Counts frees of objects from before the trace, by kind. If they are freed as fast as objects of the same kind are
// allocated, the objects of this kind live long, and their number need not grow.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/series/time_series.hpp"
#include "trace/ids.hpp"

namespace kmt {

// Numbers of events in the first, second and last third of the trace.
using CountByThird = std::array<std::uint64_t, 3>;

class OlderFrees {
 public:
  // Counts a free for its call site, and for its cache if the event names the cache. Both are needed, because events of
  // allocations may lack the cache although events of frees have it, as in Linux 6.1.
  void add(CallSiteId site, CacheId cache, TimeBucket at);

  CountByThird of_cache(std::uint32_t cache, const TimeBuckets& clock) const;
  // Returns the counts for each call site that freed objects from before the trace.
  std::vector<std::pair<CallSiteId, CountByThird>> sites(const TimeBuckets& clock) const;

 private:
  void add(std::uint64_t key, TimeBucket at);

  static constexpr std::size_t kMostKeys = 4096;  // maximum number of series, each of which takes at most 12 KiB

  std::unordered_map<std::uint64_t, TimeSeries> frees_;  // by call site, and by cache with kCacheBit
};

// True if, in each third, the frees of older objects are at least half as many as the allocations that are still live.
// The thirds of the allocations may also be compared in reverse order: in a steady state, the counts of allocations are
// the mirror image of those of frees.
bool keeps_pace(const CountByThird& older_frees, const CountByThird& births);

// True if the two counts are very similar in each third, in either order. Such a similarity is hardly chance.
bool have_same_pace(const CountByThird& births, const CountByThird& older_frees);

// True if both function names contain the same object, such as "pipe_info" in alloc_pipe_info() and free_pipe_info().
bool name_same_thing(const std::string& allocating, const std::string& freeing);

}  // namespace kmt
