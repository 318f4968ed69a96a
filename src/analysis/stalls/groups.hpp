// SPDX-License-Identifier: GPL-2.0-or-later
// Groups waits by the keys of `report --by`, and adds up their times.
//
// The keys describe the awaited allocation. If the trace does not contain it, the keys of tasks and code describe the
// task and the stack at the start of the wait, and keys of the memory are unknown.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "analysis/stalls/follower.hpp"

namespace kmt {

// Returns a function that finds the caller in a stack: the innermost function outside the allocators and reclaim. It
// skips functions that may wait for memory, and then calls `find_caller`.
FindCaller caller_of_waits(FindCaller find_caller, const SymbolNames& symbols);

class StallGroups {
 public:
  // `info`, `tasks`, `symbols` and `caches` must outlive this object. All keys must be known when memory is allocated.
  StallGroups(std::vector<GroupKey> by, const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
              CacheNames& caches, FindCaller find_caller, GroupingOptions options);

  // Learns from an event. Call this for each event of the trace, in order of time.
  void see(const Event& event) { grouping_.see(event); }
  void add(const FollowedWait& wait, const WaitSums& sums);
  // Returns the groups, largest time first.
  std::vector<WaitRow> rows() const;

 private:
  // Identifies a group: the group of the awaited allocation, and properties of the wait that the allocation lacks or
  // that differ from it.
  struct Properties {
    std::uint32_t group = 0;
    int order = -1;  // -1: unknown
    std::uint32_t gfp_flags = 0;
    bool has_memory = false;
    auto operator<=>(const Properties&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::vector<KeyValue> values_of(const Properties& properties) const;

  std::vector<GroupKey> by_;
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  Grouping grouping_;                          // by by_ and GroupKey::caller
  std::vector<std::uint32_t> group_of_ = {0};  // index: origin
  std::map<Properties, WaitSums> sums_;
};

}  // namespace kmt
