// SPDX-License-Identifier: GPL-2.0-or-later
// Frees of objects older than the trace. If they keep pace with the allocations of the same kind, these objects live
// longer than the trace, and their number need not grow.
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

// Counts in each third of the time of a trace.
using CountByThird = std::array<std::uint64_t, 3>;

class OlderFrees {
 public:
  // Counts a free for its call site, and for its cache if the event has it. Events of allocations may lack the cache
  // although those of frees have it, as in Linux 6.1.
  void add(CallSiteId site, CacheId cache, TimeBucket at);

  CountByThird of_cache(std::uint32_t cache, const TimeBuckets& clock) const;
  // All call sites with such frees.
  std::vector<std::pair<CallSiteId, CountByThird>> sites(const TimeBuckets& clock) const;

 private:
  void add(std::uint64_t key, TimeBucket at);

  static constexpr std::size_t kMostKeys = 4096;  // a series takes at most 12 KiB

  std::unordered_map<std::uint64_t, TimeSeries> frees_;  // by call site, and by cache with kCacheBit
};

// True if in each third at least half as many older objects were freed as objects were allocated that still live.
bool keeps_pace(const CountByThird& older_frees, const CountByThird& births);

// True if the counts of each third are so similar that an unrelated call site would hardly have them.
bool have_same_pace(const CountByThird& births, const CountByThird& older_frees);

// True if both functions name the same thing: alloc_pipe_info() and free_pipe_info().
bool name_same_thing(const std::string& allocating, const std::string& freeing);

}  // namespace kmt
