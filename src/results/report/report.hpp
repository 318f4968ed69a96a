// SPDX-License-Identifier: GPL-2.0-or-later
// The complete result of `report` as plain data. Sizes are in bytes, and times are in nanoseconds.
// docs/formats/report-json.md has the definitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/allocation_sums.hpp"
#include "results/group.hpp"
#include "results/report/explained.hpp"
#include "results/report/history.hpp"
#include "results/report/matrix.hpp"
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
  bool clock_in_ns = true;           // false: times are ticks of unknown length
  std::vector<std::string> buffers;  // names of the ring buffers that contain events; "" is the top-level buffer
  std::uint64_t first_ns = 0;        // time of the first event that passed the filter
  std::uint64_t duration_ns = 0;     // time from the first to the last event that passed the filter
  std::uint64_t whole_first_ns = 0;  // time of the first event of the trace
  std::uint64_t whole_ns = 0;        // time from the first to the last event of the trace
  std::uint64_t recorded_ns = 0;     // length of the recorded time within --time, for computing rates
  std::uint64_t events = 0;
  std::uint64_t stacks = 0;       // number of different kernel stacks in the whole trace
  std::uint64_t user_stacks = 0;  // number of different user-space stacks in the whole trace
  std::uint64_t lost_events = 0;  // number of lost events of the whole trace
  std::vector<std::uint64_t> lost_per_cpu;
  // True: lost_events is a lower bound, because a loss of unknown size counts as one event.
  bool lost_at_least = false;
  // True: only some tasks were recorded, and some lost events may belong to others, as their CPU is unknown.
  bool lost_of_any_task = false;
  bool loss_known = true;          // false: the trace is damaged or cut off, so more events may have been lost
  std::string missing_cpus;        // CPUs without data: "CPU 1, CPU 3"; empty: no CPU is known to be missing
  std::string recorded_at;         // "2026-11-21T12:13:00Z"; empty if not in the trace
  std::string recorder_arguments;  // "kmemtrace record -- make"; empty if not in the trace
  bool complete = true;            // false: reading was interrupted, so the result lacks the rest of the trace
};

// Events within --time, whether or not the other filters select them.
struct Activity {
  std::vector<std::pair<std::string, std::uint64_t>> events;  // pairs of "system:name" and a count
  std::array<bool, kAllocators> allocated{};  // index: Allocator; true: there were allocations, even if all failed
};

// Totals of an allocator that identifies allocations by their address. Bytes have the same meaning as in Event.
struct AllocatorTotals : AllocationSums {
  std::uint64_t frees = 0;  // number of all frees, including frees whose allocation is not in the trace
  std::uint64_t unmatched_frees = 0;
  std::uint64_t null_frees = 0;
  std::uint64_t cross_node_frees = 0;  // only valid if SlabTotals::cross_node_allocations is set
  std::uint64_t peak_bytes = 0;        // largest number of bytes that were live at one time
  std::uint64_t peak_ns = 0;           // time when the peak was first reached
  Lifetimes lifetimes;
  LiveCount maybe_freed;    // like GroupRow::maybe_freed
  bool knows_bytes = true;  // false: events do not contain bytes_allocated, so freed and live bytes are unknown
};

struct SlabTotals : AllocatorTotals {
  // Empty: the trace does not show which CPU belongs to which node.
  std::optional<std::uint64_t> cross_node_allocations;
};

// Totals of pages, which are identified by page frame. Freed and live bytes count page frames that were allocated in
// the trace. An allocation ends when its first page is freed. `frees` counts free events: one event may free several
// allocations, and several events may free one allocation.
struct PageTotals : AllocatorTotals {};

struct PageOrderRow {
  unsigned order = 0;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t frees = 0;  // number of free events of this order
  std::uint64_t bytes_allocated = 0;
  std::uint64_t live_bytes = 0;  // live bytes of allocations of this order
};

// Events that contradict each other, such as two frees of an address without an allocation in between. One row counts
// all pairs of events with equal call sites.
struct AnomalyRow {
  Imperfection kind{};
  Allocator allocator = Allocator::slab;
  CodeAddress first;   // call site of the earlier event (allocation or previous free); address 0: there is none
  CodeAddress second;  // call site of the event that contradicts the earlier event
  std::string cache;   // empty: unknown
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  bool explained = false;  // true: the cause is known, and ExplainedAnomalies includes this row
};

// The group with the most live memory. Pages are excluded, because they may contain objects of other groups.
// Reclaimable memory is excluded too.
struct MostLive {
  std::string group;  // name of the group, as in GroupRow::name
  LiveCount live;
  bool is_upper_bound = false;
  TaskName process;           // the process that allocated the largest part of `live`
  LiveCount of_process;       // the part of `live` that this process allocated
  std::size_t processes = 0;  // number of all processes that allocated a part of `live`
};

// Live bytes of pages by use. The use is known if stacks, GFP flags or migrate types show it.
struct LivePages {
  std::uint64_t user = 0;  // user memory and page cache
  std::uint64_t slab = 0;  // pages of slabs and large kmallocs
};

struct ReportResult {
  TraceSummary trace;
  Activity activity;
  std::vector<std::pair<std::string, std::uint64_t>> events;  // pairs of event name and count, most frequent first
  std::uint64_t calls = 0;                                    // number of recorded calls of kernel functions
  SlabTotals slab;
  PageTotals pages;
  AllocatorTotals percpu;
  AllocatorTotals vmalloc;  // address areas of vmalloc, vmap, ioremap and all other mappings in the vmalloc range
  MemoryState memory;
  std::vector<PageOrderRow> page_orders;  // sorted by order
  std::vector<GroupKey> by;               // keys by which allocations are grouped
  std::vector<GroupTable> groups;  // one table for each allocator that has events and at least one key that applies
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // pairs of kind and count; only kinds that occurred
  std::vector<AnomalyRow> anomaly_sites;   // anomalies grouped by their two call sites, most frequent first
  ExplainedAnomalies explained;            // counts of those anomalies that have a known cause
  OlderObjectsOfTrace older;               // slab objects allocated before the trace
  Findings findings;                       // findings of the reader, such as damage and losses
  std::vector<Matrix> matrices;            // one matrix for each table in `groups`; empty if not requested
  std::optional<MostLive> most_live;       // set if ReportRequest::most_live is set
  std::optional<LivePages> live_pages;     // set if ReportRequest::live_pages is set
  std::optional<Histories> histories;      // set if ReportRequest::history is set
  std::optional<TrafficOverTime> traffic;  // set if ReportRequest::traffic is set
  std::optional<ReportWindow> window;      // set if ReportRequest::window is set
};

const AllocatorTotals& totals_of(const ReportResult& report, Allocator allocator);
// Returns the live allocations that the kernel may have freed without an event, summed over all allocators.
LiveCount maybe_freed_of(const ReportResult& report);
// Returns a row with the totals of a whole allocator, without keys.
GroupRow row_of(const AllocatorTotals& totals, Allocator allocator);

}  // namespace kmt
