// SPDX-License-Identifier: GPL-2.0-or-later
// The live bytes of groups over the time of a trace, and the ages of objects that are live at its end. Also contains
// the bytes that look live but may have been freed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

// The reason why an allocation that looks live may have been freed. If several reasons apply, one that explains growth
// (see explains_growth()) usually has priority, except over `reallocated`. Otherwise, the first in this list counts.
enum class Doubt : std::uint8_t {
  // The trace has no frees of this allocator. For percpu memory, for vmalloc areas and in all traces recorded by
  // kmemtrace, this reason only applies if the event of frees was not recorded.
  frees_not_recorded,
  tasks_selected,    // only some tasks were recorded (-F, -p, --cgroup), and other tasks may have freed the memory
  lost_stretch,      // events were lost on some CPU after the allocation
  incomplete_trace,  // events are missing, and it is unknown when
  // At least 1 % of the ended objects of this call site and size ended without a traced free: their addresses were
  // allocated again.
  reallocated,
  untraced_path,  // the kernel frees such objects through a path without a tracepoint (trace/code/untraced_paths)
  // Objects of this kind from before the trace were freed as fast as new ones were allocated. The new objects may just
  // live longer than the trace. Also applies to objects that are always allocated together with these new objects.
  older_freed,
  page_tables,  // page tables and anon_vmas of processes: they grow with the memory of the processes
  slab_pages,   // pages of slabs and large kmallocs: the slab allocator already counts the objects on them
  reclaimable,  // the kernel frees this memory when memory is short: user memory, page cache, inodes, dentries
  tracing,      // allocated by another program that traces the kernel: it grows with the measurement
};
constexpr std::size_t kDoubts = 11;

// True for a doubt about memory that is in use and whose growth is expected.
constexpr bool explains_growth(Doubt doubt) { return doubt >= Doubt::page_tables; }

struct DoubtText {
  std::string_view id;        // name in JSON: "lost-stretch"
  std::string_view word;      // short name for a table column
  std::string_view sentence;  // sentence for the user that says why allocations may have been freed
};
const DoubtText& describe(Doubt doubt);

// Live memory that one process, or one kind of interrupt, has allocated.
struct LiveHolder {
  TaskName process;
  LiveCount live;
};

// Live memory that processes with the same name have allocated.
struct LiveName {
  std::string name;
  std::size_t processes = 0;
  LiveCount live;

  // True if the process name is more informative than the largest process. This is the case if many processes have this
  // name, and the largest one has only a part of their memory.
  bool is_of_many(std::uint64_t most_bytes_of_one) const {
    constexpr std::size_t kMany = 4;
    constexpr std::uint64_t kTimesTheLargest = 2;
    return processes >= kMany && live.bytes >= kTimesTheLargest * most_bytes_of_one;
  }
};

struct GroupHistory {
  static constexpr std::size_t kMostHolders = 8;

  std::vector<TimeSeriesPoint> series;  // live bytes over time; one point for each time bucket
  // By time bucket: bytes that were allocated until the end of the bucket and look live at the end of the trace, but
  // may have been freed.
  std::vector<std::uint64_t> doubtful_bytes;
  Lifetimes ages;               // ages of the allocations that are live at the end
  std::uint64_t oldest_ns = 0;  // age of the oldest of these allocations
  std::array<LiveCount, kDoubts> doubtful{};
  // Counts of allocations with the call sites and sizes of the group. `reallocated_of` counts all of them.
  // `reallocated` counts those whose address was allocated again although no free was seen.
  std::uint64_t reallocated = 0;
  std::uint64_t reallocated_of = 0;
  std::string_view untraced_path;  // description of the path without a tracepoint; empty: there is no such path
  // The processes with the most live bytes, at most kMostHolders, and the number of all processes. Only set if
  // ReportRequest::holders is set.
  std::vector<LiveHolder> holders;
  std::size_t holders_in_all = 0;
  std::vector<LiveName> names;  // live memory summed by process name; at most kMostHolders names

  LiveCount doubtful_in_all() const {
    LiveCount sum;
    for (const LiveCount& count : doubtful) sum += count;
    return sum;
  }
};
using SharedHistory = std::shared_ptr<const GroupHistory>;  // null: no history was kept for the group

struct TimeAxis {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  // end of the recording, as far as known
  std::uint64_t width_ns = 1;
  std::size_t buckets = 0;

  // Returns the index of the bucket of a time. Earlier times are in the first bucket, later times in the last bucket.
  std::size_t bucket_of(std::uint64_t time_ns) const {
    if (time_ns <= start_ns || buckets == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>((time_ns - start_ns) / width_ns, buckets - 1));
  }
};

struct Histories {
  // Maximum number of groups with a history.
  static constexpr std::size_t kMostGroups = 4096;
  // Minimum number of allocations of a group with a history. With fewer, it has too few values for a trend
  // (analysis/series/trend).
  static constexpr std::uint64_t kFewestAllocations = 4;

  TimeAxis axis;
  std::array<SharedHistory, kAllocators> of_allocator;
  // Number of groups without a history that have live memory and at least kFewestAllocations allocations.
  std::size_t groups_not_followed = 0;
  std::uint64_t bytes_not_followed = 0;           // live bytes of the groups without a history
  std::vector<TimeSeriesPoint> reclaimable_slab;  // live slab memory that the line SReclaimable in meminfo includes
  // Live bytes of large kmallocs, which no slab line of meminfo includes.
  std::vector<TimeSeriesPoint> page_backed_slab;
  // Pages allocated minus pages freed, including frees of pages from before the trace. If `frames_of_zones` is set:
  // pages taken from the zones' free lists minus pages returned to them.
  std::vector<TimeSeriesPoint> page_frames;
  bool frames_of_zones = false;
  std::uint64_t lost_until_ns = 0;       // end of the last interval with lost events; 0: none
  std::vector<Imperfection> incomplete;  // imperfections that mean that events are missing at unknown times
  // The time at which the analysis stopped because the end of the file is missing (ReportRequest::until_cut).
  std::optional<std::uint64_t> cut_at_ns;
  std::vector<MemorySeries> memory;  // the kernel's own counters over time
};

}  // namespace kmt
