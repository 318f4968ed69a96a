// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `pages --stalls` as plain data. docs/formats/stalls-json.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/group.hpp"
#include "results/report/report.hpp"
#include "results/wait_sums.hpp"
#include "trace/stall.hpp"

namespace kmt {

// The memory for which a task waited.
struct AwaitedMemory {
  std::string allocator;  // "pages" or "slab"
  std::string cache;      // name of the slab cache; empty: kmalloc, or unknown
  bool by_kmalloc = false;
  std::string call_site;  // empty: the event has no call site
  std::uint64_t bytes_requested = 0;
  bool failed = false;
};

// A wait of one task for one allocation. It may consist of several stalls.
struct Wait {
  std::uint64_t began_ns = 0;
  WaitSums sums;                  // sums.waits is 1
  std::string task;               // "find-153"
  std::string process;            // likewise, of the process
  std::string cgroup;             // empty: unknown
  std::optional<unsigned> order;  // empty: only cgroup reclaim, whose events have no order
  std::uint32_t gfp_flags = 0;
  std::string gfp_names;                // empty: the trace does not contain the names
  std::vector<std::string> stack;       // functions where the wait began, innermost first; empty: not recorded
  std::optional<AwaitedMemory> memory;  // empty: unknown
};

// A group of waits with the same values of all keys.
struct WaitRow {
  std::vector<KeyValue> keys;  // one value for each key of StallsResult::by
  std::string name;            // the texts of the keys
  WaitSums sums;
};

// Time that tasks waited, in buckets of equal width. The times of tasks that wait at the same time add up.
struct WaitsOverTime {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t bucket_ns = 0;
  std::vector<std::uint64_t> waiting_ns;
};

// Sums of all stalls of one kind. total_ns includes nested stalls, so these times do not add up.
struct StallKindRow {
  StallKind kind = {};
  std::uint64_t stalls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t own_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t reclaimed_pages = 0;
};

// Work of kswapd or kcompactd for one node.
struct BackgroundRow {
  std::string task;
  std::optional<int> node;
  std::uint64_t wakeups = 0;
  std::uint64_t awake_ns = 0;       // from a wakeup to the next sleep
  std::uint64_t compaction_ns = 0;  // time in compaction
  std::uint64_t throttled_ns = 0;
};

enum class Scanner : std::uint8_t { direct_reclaim, cgroup_reclaim, node_reclaim, kswapd, other };
struct ScanRow {
  Scanner scanner = Scanner::other;
  std::optional<int> node;
  std::uint64_t scanned_pages = 0;
  std::uint64_t reclaimed_pages = 0;
};

// Numbers that the kernel counts in /proc/vmstat too.
struct StallCounts {
  std::uint64_t direct_reclaims = 0;      // allocstall_*, except that the kernel counts repeated attempts too
  std::uint64_t compaction_requests = 0;  // compact_stall, and requests for which the kernel compacted no zone
  std::uint64_t compactions = 0;          // requests that compacted a zone, or left out a zone after failures
  std::uint64_t failed_compactions = 0;   // compact_fail: compactions that did not give the task its pages
  std::uint64_t oom_victims = 0;          // oom_kill
};

struct StallsResult {
  TraceSummary trace;            // trace.events is the number of selected events of stalls
  bool recorded = false;         // true: the trace can contain events of stalls
  bool memory_recorded = false;  // true: the trace has allocations of pages, so waits can be assigned to memory
  WaitSums total;
  std::vector<StallKindRow> kinds;  // kinds that occur, in the order of StallKind
  StallCounts counts;
  // Groups of the same waits, largest time first.
  std::vector<WaitGroup> processes, cgroups, call_sites, orders, gfp_flags;
  std::vector<GroupKey> by;     // the requested keys; may be empty
  std::vector<WaitRow> groups;  // groups by these keys, largest time first
  WaitsOverTime over_time;
  std::vector<std::uint64_t> durations;  // index: number of bits of the duration in microseconds; value: waits
  std::vector<Wait> longest;             // longest first
  std::vector<BackgroundRow> background;
  std::vector<ScanRow> scans;
  // Time during which at least one task waited; empty if events were lost.
  std::optional<std::uint64_t> some_ns;
  // Stalls that are not in the sums, because events were lost during the stall or the stall began before the trace.
  std::uint64_t uncertain_stalls = 0;
  std::uint64_t unfinished_waits = 0;  // waits that last until the end of the trace; they are in the sums
  // How much counters of /proc/vmstat rose from the first to the last sample in the trace, for all tasks. "allocstall"
  // is the sum for all zones.
  std::vector<std::pair<std::string, std::uint64_t>> kernel_counters;
  Findings findings;
};

}  // namespace kmt
