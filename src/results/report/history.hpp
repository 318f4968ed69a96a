// SPDX-License-Identifier: GPL-2.0-or-later
// Live bytes of groups over the time of a trace, the ages of objects that are live at its end, and the amount that may
// only look live.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "results/report/lifetimes.hpp"
#include "results/report/live_count.hpp"
#include "results/series/memory_series.hpp"
#include "results/series/time_series.hpp"
#include "results/task_name.hpp"
#include "trace/event.hpp"
#include "trace/imperfections.hpp"

namespace kmt {

// The reason why an allocation that looks live may have been freed. The first reason that applies counts.
enum class Doubt : std::uint8_t {
  // The trace has no frees of this allocator at all. For percpu memory, vmalloc areas and all traces recorded by
  // kmemtrace, this counts only if the event of frees was not recorded.
  frees_not_recorded,
  tasks_selected,    // only some tasks were recorded (-F, -p, --cgroup), and frees by other tasks are not in the trace
  lost_stretch,      // events were lost after the allocation, on any CPU
  incomplete_trace,  // events are missing at an unknown time
  reallocated,    // at least 1 % of ended objects of its call site and size were allocated again while they looked live
  untraced_path,  // a kernel path that frees such objects has no tracepoint (trace/code/untraced_paths)
  older_freed,    // older objects of its kind were freed at the same pace: it may only live longer than the trace
  page_tables,    // page tables of processes: they grow with the processes' memory
  slab_pages,     // pages of slabs and large kmallocs: their objects count in the slab allocator
  reclaimable,    // reclaimable when memory is short: user memory, page cache, inodes, dentries
};
constexpr std::size_t kDoubts = 10;

struct DoubtText {
  std::string_view id;        // name in JSON: "lost-stretch"
  std::string_view word;      // short name for a table column
  std::string_view sentence;  // reason why allocations may have been freed
};
const DoubtText& describe(Doubt doubt);

// A process, or interrupts, with live memory that it allocated.
struct LiveHolder {
  TaskName process;
  LiveCount live;
};

struct GroupHistory {
  static constexpr std::size_t kMostHolders = 8;

  std::vector<TimeSeriesPoint> series;  // one point for each bucket
  // By bucket: doubtful bytes live at the end that were allocated before the end of the bucket.
  std::vector<std::uint64_t> doubtful_bytes;
  Lifetimes ages;               // ages of the allocations that are live at the end
  std::uint64_t oldest_ns = 0;  // greatest age
  std::array<LiveCount, kDoubts> doubtful{};
  // Allocations of the group's call sites and sizes: those whose address was allocated again while they looked live,
  // and all allocations.
  std::uint64_t reallocated = 0;
  std::uint64_t reallocated_of = 0;
  std::string_view untraced_path;  // description of the path from the table; empty: none
  // With ReportRequest::holders: those with most live bytes, at most kMostHolders, and the number of all.
  std::vector<LiveHolder> holders;
  std::size_t holders_in_all = 0;

  LiveCount doubtful_in_all() const {
    LiveCount sum;
    for (const LiveCount& count : doubtful) sum += count;
    return sum;
  }
};
using SharedHistory = std::shared_ptr<const GroupHistory>;  // null: the group is not followed

struct TimeAxis {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  // end of the recording, as far as known
  std::uint64_t width_ns = 1;
  std::size_t buckets = 0;

  // Returns the bucket of a time. Times outside the axis are in the first or the last bucket.
  std::size_t bucket_of(std::uint64_t time_ns) const {
    if (time_ns <= start_ns || buckets == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>((time_ns - start_ns) / width_ns, buckets - 1));
  }
};

struct Histories {
  // Further groups are not followed.
  static constexpr std::size_t kMostGroups = 4096;
  // A group with fewer allocations is not followed, because it has fewer steps than any growth (analysis/series/trend).
  static constexpr std::uint64_t kFewestAllocations = 4;

  TimeAxis axis;
  std::array<SharedHistory, kAllocators> of_allocator;
  std::size_t groups_not_followed = 0;            // groups with at least kFewestAllocations allocations and live memory
  std::uint64_t bytes_not_followed = 0;           // live bytes of these groups
  std::vector<TimeSeriesPoint> reclaimable_slab;  // slab memory that SReclaimable counts
  std::vector<TimeSeriesPoint> page_backed_slab;  // large kmallocs, which no slab line of meminfo counts
  // Pages allocated minus pages freed, including pages allocated before the trace. With `frames_of_zones`: pages taken
  // from the zones' free lists minus pages returned to them.
  std::vector<TimeSeriesPoint> page_frames;
  bool frames_of_zones = false;
  std::uint64_t lost_until_ns = 0;       // end of the last interval in which events were lost; 0: none
  std::vector<Imperfection> incomplete;  // reasons why events are missing at unknown times
  std::vector<MemorySeries> memory;      // the kernel's own counters over time
};

}  // namespace kmt
