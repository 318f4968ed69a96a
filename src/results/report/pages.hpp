// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `pages`: plain data. The definitions are those of docs/formats/pages-json.md.
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
  std::uint64_t pages = 0;  // 2^order for each event

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

// Sums of one task, or of interrupts of one kind.
struct PageTaskRow {
  std::string task;                 // "find-153", "[softirq]"
  std::string comm;                 // "find", "[softirq]"
  std::optional<std::int32_t> tid;  // empty: an interrupt
  EventsAndPages allocated;         // mm_page_alloc
  EventsAndPages failed;            // those that failed
  EventsAndPages zone_locked;       // mm_page_alloc_zone_locked: taken from the buddy lists, under their lock
  EventsAndPages refilled;          // those for a CPU's own list
  std::uint64_t refill_runs = 0;    // runs of zone_locked
  EventsAndPages freed;             // mm_page_free
  EventsAndPages freed_batched;     // mm_page_free_batched
  EventsAndPages drained;           // mm_page_pcpu_drain: from a CPU's own list to the buddy lists
  std::uint64_t drain_runs = 0;     // runs of drained
  EventsAndPages fallbacks;         // mm_page_alloc_extfrag; pages of the blocks that were taken
  EventsAndPages fragmenting;       // those whose block is smaller than a page block
  EventsAndPages severe;            // fragmenting, order 3 at most
  EventsAndPages moderate;          // fragmenting, the others
  EventsAndPages ownership_changed;
  std::uint64_t live_pages = 0;  // allocated by it, not freed by anybody
};

// Allocations of one order and migrate type.
struct PageTypeRow {
  unsigned order = 0;
  int migrate_type = 0;
  std::string migrate_type_name;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t live_bytes = 0;
};

// Fallbacks from one migrate type to another; counts as in PageTaskRow.
struct PageFallbackRow {
  int migrate_type = 0;  // as requested
  std::string migrate_type_name;
  int from = 0;  // the migrate type of the block that was taken from
  std::string from_name;
  EventsAndPages fallbacks;
  EventsAndPages fragmenting;
  EventsAndPages severe;
  EventsAndPages moderate;
  EventsAndPages ownership_changed;
};

// Failed allocations that were alike.
struct PageFailureRow {
  std::string task;
  unsigned order = 0;
  std::uint32_t gfp_flags = 0;
  std::string gfp_names;  // "GFP_KERNEL|__GFP_COMP"; empty: the trace does not name them
  int migrate_type = 0;
  std::string migrate_type_name;
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

struct PagesResult {
  TraceSummary trace;                      // its events: those of the page allocator that count
  PageTaskRow total;                       // of all tasks; its task is "total"
  std::vector<PageTaskRow> tasks;          // all of them, unsorted
  std::vector<PageTypeRow> types;          // by order, then type
  std::vector<PageFallbackRow> fallbacks;  // by type, then type taken from
  std::vector<PageFailureRow> failures;    // most frequent first
  unsigned pageblock_order = 0;            // below it a fallback fragments
  bool pageblock_order_assumed = false;    // the trace does not say: that of the architecture's huge page
  std::optional<unsigned> nodes;           // NUMA nodes with CPUs; empty: the trace does not say
  // The amount by which to raise vm.min_free_kbytes if fragmentation is severe (Documentation/trace/events-kmem.rst);
  // for one node if their number is unknown. Empty: it is not severe.
  std::optional<std::uint64_t> min_free_kbytes_step;
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // kind → count
  Findings findings;
};

}  // namespace kmt
