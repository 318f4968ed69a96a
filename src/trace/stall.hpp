// SPDX-License-Identifier: GPL-2.0-or-later
// Stalls: the time that tasks wait for memory. A stall_begin and a stall_end event of one task enclose a stall. A
// stall_mark is a single event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/event.hpp"

namespace kmt {

enum class StallKind : std::uint8_t {
  // Kinds of waiting.
  direct_reclaim,  // the task itself reclaims pages, because too few are free
  cgroup_reclaim,  // the task reclaims pages of a cgroup that reached its limit
  node_reclaim,    // the task reclaims pages of a node (vm.zone_reclaim_mode)
  compaction,      // the task moves pages to make a free block of a higher order
  throttled,       // the task sleeps during reclaim (reclaim_throttle()); a mark, written when the sleep ends
  // Background work by kernel threads.
  kswapd,
  kcompactd,
  // Marks without a duration.
  compaction_request,   // the task starts to compact one zone after the other (try_to_compact_pages())
  compaction_deferred,  // a zone is left out, because compaction has failed before
  scan,                 // pages of an LRU list were scanned
  oom_victim,           // the OOM killer chose a process
};
constexpr std::size_t kWaitKinds = 5;  // kinds of waiting come first
constexpr std::size_t kStallKinds = 11;

constexpr bool is_wait(StallKind kind) { return static_cast<std::size_t>(kind) < kWaitKinds; }

constexpr StallKind stall_kind(const Event& event) { return static_cast<StallKind>(event.fallback_order); }
// Returns the duration of a throttled mark.
constexpr std::uint64_t waited_ns(const Event& event) { return event.address; }
// Returns the ID of the process that the OOM killer chose.
constexpr std::int32_t victim_of(const Event& event) { return static_cast<std::int32_t>(event.address); }
// Return the pages that a scan or the end of a reclaim reports.
constexpr std::uint64_t scanned_pages(const Event& event) { return event.bytes_requested; }
constexpr std::uint64_t reclaimed_pages(const Event& event) { return event.bytes_allocated; }

}  // namespace kmt
