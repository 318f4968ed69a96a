// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `pages` as plain data. docs/formats/pages-json.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

struct EventsAndPages {
  std::uint64_t events = 0;
  std::uint64_t pages = 0;  // sum of 2^order over all events

  void add(unsigned order, std::uint64_t times = 1) {
    events += times;
    pages += times << order;
  }
  EventsAndPages& operator+=(const EventsAndPages& other) {
    events += other.events;
    pages += other.pages;
    return *this;
  }
};

// Numbers of page events of one task, or of one kind of interrupt.
struct PageTaskRow {
  std::string task;                 // "find-153", "[softirq]"
  std::string comm;                 // "find", "[softirq]"
  std::optional<std::int32_t> tid;  // empty for interrupts
  EventsAndPages allocated;         // mm_page_alloc, without failed allocations
  EventsAndPages failed;            // failed allocations
  EventsAndPages zone_locked;       // mm_page_alloc_zone_locked: pages taken from the buddy lists under the zone lock
  EventsAndPages refilled;          // zone_locked events that refill per-CPU lists
  std::uint64_t refill_runs = 0;    // number of runs of consecutive zone_locked events
  EventsAndPages freed;             // mm_page_free
  EventsAndPages freed_batched;     // mm_page_free_batched
  EventsAndPages drained;           // mm_page_pcpu_drain: pages moved from a per-CPU list to the buddy lists
  std::uint64_t drain_runs = 0;     // number of runs of consecutive drained events
  EventsAndPages fallbacks;         // mm_page_alloc_extfrag; counts the pages of the free blocks that were used
  EventsAndPages fragmenting;       // fallbacks to blocks smaller than a pageblock
  EventsAndPages severe;            // fragmenting fallbacks to blocks of order 3 or less
  EventsAndPages moderate;          // fragmenting fallbacks to blocks of higher orders
  EventsAndPages ownership_changed;
  std::uint64_t live_pages = 0;  // number of pages that the task allocated and that were not freed in the trace
};

// Counts of allocations of one order and migrate type.
struct PageTypeRow {
  unsigned order = 0;
  int migrate_type = 0;
  std::string migrate_type_name;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t live_bytes = 0;
};

// Numbers of fallbacks from one migrate type to another. Members have the same meaning as in PageTaskRow.
struct PageFallbackRow {
  int migrate_type = 0;  // the requested migrate type
  std::string migrate_type_name;
  int from = 0;  // migrate type of the free block that was used
  std::string from_name;
  EventsAndPages fallbacks;
  EventsAndPages fragmenting;
  EventsAndPages severe;
  EventsAndPages moderate;
  EventsAndPages ownership_changed;
};

// Number of failed allocations with equal task, order, GFP flags and migrate type.
struct PageFailureRow {
  std::string task;
  unsigned order = 0;
  std::uint32_t gfp_flags = 0;
  std::string gfp_names;  // "GFP_KERNEL|__GFP_COMP"; empty: the trace does not contain the names
  int migrate_type = 0;
  std::string migrate_type_name;
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

struct PagesResult {
  TraceSummary trace;                      // trace.events is the number of selected page allocator events
  PageTaskRow total;                       // sums over all tasks; `task` is "total"
  std::vector<PageTaskRow> tasks;          // all tasks, unsorted
  std::vector<PageTypeRow> types;          // sorted by order, then by migrate type
  std::vector<PageFallbackRow> fallbacks;  // sorted by migrate_type, then by `from`
  std::vector<PageFailureRow> failures;    // most frequent first
  unsigned pageblock_order = 0;            // order of a page block (2^order pages); fallbacks to blocks below this
                                           // order cause fragmentation
  // True: the trace does not contain the order, so the order of the architecture's huge pages is assumed.
  bool pageblock_order_assumed = false;
  std::optional<unsigned> nodes;  // number of NUMA nodes with CPUs; empty: not in the trace
  // Recommended increase of vm.min_free_kbytes (Documentation/trace/events-kmem.rst). Empty if fragmentation is not
  // severe. If the number of nodes is unknown, the value is for one node.
  std::optional<std::uint64_t> min_free_kbytes_step;
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // pairs of a kind of anomaly and its count
  Findings findings;
};

}  // namespace kmt
