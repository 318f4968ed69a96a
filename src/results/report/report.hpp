// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `report`: plain data, complete, nothing to look up elsewhere. All sizes in bytes, all times in
// nanoseconds. The definitions are those of docs/formats/report-json.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/allocation_sums.hpp"
#include "results/group.hpp"
#include "results/report/history.hpp"
#include "results/report/older_objects.hpp"
#include "results/series/memory_state.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct TraceSummary {
  std::string path;
  std::string format;
  std::string kernel;
  std::string arch;
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 0;
  std::uint64_t page_size = 0;
  unsigned cpus = 0;
  std::string clock;
  bool clock_in_ns = true;           // false: all times are ticks of something else
  std::vector<std::string> buffers;  // with counted events; "" is the top one
  std::uint64_t first_ns = 0;        // of the events that passed the filter
  std::uint64_t duration_ns = 0;     // from the first to the last of them
  std::uint64_t recorded_ns = 0;     // how long was recorded, within --time: rates are of this
  std::uint64_t events = 0;
  std::uint64_t stacks = 0;       // different kernel stacks, of the whole trace
  std::uint64_t user_stacks = 0;  // different stacks of user programs, likewise
  std::uint64_t lost_events = 0;  // of the whole trace
  std::vector<std::uint64_t> lost_per_cpu;
  bool lost_at_least = false;      // the size of some losses is unknown: each counts as one
  bool lost_of_any_task = false;   // those of no known CPU: some tasks were recorded, and they may be of others
  bool loss_known = true;          // false: the trace is damaged or was cut off, more may have been lost
  std::string missing_cpus;        // without data in it, "CPU 1, CPU 3"; empty: none is known to be missing
  std::string recorded_at;         // "2026-11-21T12:13:00Z"; empty when the trace does not say
  std::string recorder_arguments;  // "kmemtrace record -- make"; likewise
  bool complete = true;            // false: reading was interrupted, the rest of the trace is not counted
};

// All events within --time, selected or not.
struct Activity {
  std::vector<std::pair<std::string, std::uint64_t>> events;  // "system:name" → count
  std::array<bool, kAllocators> allocated{};                  // by Allocator: whether anything was, or failed to be
};

// Totals of an allocator with allocations identified by address. Bytes are those of Event.
struct AllocatorTotals : AllocationSums {
  std::uint64_t frees = 0;  // matched or not
  std::uint64_t unmatched_frees = 0;
  std::uint64_t null_frees = 0;
  std::uint64_t cross_node_frees = 0;  // means something where SlabTotals::cross_node_allocations does
  std::uint64_t peak_bytes = 0;        // most live bytes at one time
  std::uint64_t peak_ns = 0;           // when that was first reached
  Lifetimes lifetimes;
  bool knows_bytes = true;  // false: the kernel does not say bytes_allocated, so freed and live bytes are not known
};

struct SlabTotals : AllocatorTotals {
  std::optional<std::uint64_t> cross_node_allocations;  // empty: the trace does not say which CPU is on which node
};

// Totals of pages, identified by frame: freed and live bytes are those of frames that were allocated in the trace. An
// allocation ends when its first page is freed. `frees` are free events: one may free several allocations, and several
// may free one.
struct PageTotals : AllocatorTotals {};

struct PageOrderRow {
  unsigned order = 0;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t frees = 0;  // free events of this order
  std::uint64_t bytes_allocated = 0;
  std::uint64_t live_bytes = 0;  // of allocations of this order, what is left of them
};

// Errors in pairs of events, by their two call sites.
struct AnomalyRow {
  Imperfection kind{};
  Allocator allocator = Allocator::slab;
  CodeAddress first;   // the earlier event's: allocation or previous free; address 0: there is none
  CodeAddress second;  // the event's at which it was seen
  std::string cache;   // empty: unknown
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

struct ReportResult {
  TraceSummary trace;
  Activity activity;
  std::vector<std::pair<std::string, std::uint64_t>> events;  // name → count, most frequent first
  SlabTotals slab;
  PageTotals pages;
  AllocatorTotals percpu;
  AllocatorTotals vmalloc;  // areas of addresses: vmalloc, vmap, ioremap and whatever else maps into that range
  MemoryState memory;
  std::vector<PageOrderRow> page_orders;                         // by order
  std::vector<GroupKey> by;                                      // keys of the groups
  std::vector<GroupTable> groups;                                // of allocators with events that a key applies to
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // kind → count, only what occurred
  std::vector<AnomalyRow> anomaly_sites;                         // the same by call sites, most frequent first
  OlderObjectsOfTrace older;                                     // slab objects from before the trace
  Findings findings;                                             // by the source: damage, loss
  std::optional<Histories> histories;                            // if ReportRequest::history is set
  std::optional<TrafficOverTime> traffic;                        // likewise, ReportRequest::traffic
};

const AllocatorTotals& totals_of(const ReportResult& report, Allocator allocator);
// A row without keys for a whole allocator.
GroupRow row_of(const AllocatorTotals& totals, Allocator allocator);

}  // namespace kmt
