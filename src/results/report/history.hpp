// SPDX-License-Identifier: GPL-2.0-or-later
// How the live bytes of groups went over the time of a trace, how old what is live at its end is, and how much of that
// may only look live.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "results/report/lifetimes.hpp"
#include "results/series/memory_series.hpp"
#include "results/series/time_series.hpp"
#include "trace/event.hpp"
#include "trace/imperfections.hpp"

namespace kmt {

// Why an allocation that looks live may be freed. The first that applies to an allocation counts.
enum class Doubt : std::uint8_t {
  // The trace has no free of this allocator at all; of percpu memory and areas, and where kmemtrace itself recorded it,
  // which says what was recorded: no event for it.
  frees_not_recorded,
  tasks_selected,    // only some tasks were recorded (-F, -p, --cgroup): what others free is not in the trace
  lost_stretch,      // events were lost after it, on whatever CPU
  incomplete_trace,  // events are missing at a time that is not known
  reallocated,       // of what ended of its call site and size, 1 % or more was allocated again while it looked live
  untraced_path,     // a path of the kernel that frees such objects has no tracepoint: trace/code/untraced_paths
  reclaimable,       // the kernel takes it back when memory is short: user memory, page cache, inodes, dentries
};
constexpr std::size_t kDoubts = 7;

struct DoubtText {
  std::string_view id;        // "lost-stretch", for JSON
  std::string_view word;      // for a column
  std::string_view sentence;  // why they may be freed
};
const DoubtText& describe(Doubt doubt);

struct LiveCount {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

struct GroupHistory {
  std::vector<TimeSeriesPoint> series;        // a point for each bucket
  std::vector<std::uint64_t> doubtful_bytes;  // likewise: of what is live at the end and doubtful, born until then
  Lifetimes ages;                             // of what is live at the end, by allocation
  std::uint64_t oldest_ns = 0;                // the greatest of these ages
  std::array<LiveCount, kDoubts> doubtful{};
  // For the group's call sites and sizes: allocations at an address that looked live, and all allocations.
  std::uint64_t reallocated = 0;
  std::uint64_t reallocated_of = 0;
  std::string_view untraced_path;  // the sentence of the table; empty: none

  LiveCount doubtful_in_all() const {
    LiveCount sum;
    for (const LiveCount& count : doubtful) {
      sum.allocations += count.allocations;
      sum.bytes += count.bytes;
    }
    return sum;
  }
};
using SharedHistory = std::shared_ptr<const GroupHistory>;  // null: not followed

struct TimeAxis {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  // of the recording, as far as known
  std::uint64_t width_ns = 1;
  std::size_t buckets = 0;

  // The bucket of a time; times outside are in the first or last one.
  std::size_t bucket_of(std::uint64_t time_ns) const {
    if (time_ns <= start_ns || buckets == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>((time_ns - start_ns) / width_ns, buckets - 1));
  }
};

struct Histories {
  // Groups beyond are not followed.
  static constexpr std::size_t kMostGroups = 4096;
  // With fewer allocations, a group has fewer steps than any growth (analysis/series/trend): it is not followed.
  static constexpr std::uint64_t kFewestAllocations = 4;

  TimeAxis axis;
  std::array<SharedHistory, kAllocators> of_allocator;
  std::size_t groups_not_followed = 0;            // of kFewestAllocations and more, with something live
  std::uint64_t bytes_not_followed = 0;           // live in them
  std::vector<TimeSeriesPoint> reclaimable_slab;  // of the slab allocator, what SReclaimable counts
  std::vector<TimeSeriesPoint> page_backed_slab;  // and what no line for slabs counts: large kmallocs
  // Pages allocated less pages freed, also of older allocations. If the trace has these events: pages that left the
  // zones' lists of free pages less those that came back.
  std::vector<TimeSeriesPoint> page_frames;
  bool frames_of_zones = false;
  std::uint64_t lost_until_ns = 0;       // the end of the last stretch in which events were lost; 0: none
  std::vector<Imperfection> incomplete;  // why events are missing at times that are not known
  std::vector<MemorySeries> memory;      // the kernel's own account
};

}  // namespace kmt
