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
  std::uint64_t recorded_ns = 0;     // length of the recording within --time; rates are computed from it
  std::uint64_t events = 0;
  std::uint64_t stacks = 0;       // number of different kernel stacks in the whole trace
  std::uint64_t user_stacks = 0;  // number of different user-space stacks in the whole trace
  std::uint64_t lost_events = 0;  // number of lost events of the whole trace
  std::vector<std::uint64_t> lost_per_cpu;
  bool lost_at_least = false;  // true: the size of some losses is unknown, and each of these counts as one event
  // True: the CPU of some lost events is unknown, and their tasks may not have been recorded at all.
  bool lost_of_any_task = false;
  bool loss_known = true;          // false: the trace is damaged or cut off, and more events may have been lost
  std::string missing_cpus;        // CPUs without data: "CPU 1, CPU 3"; empty: no CPU is known to be missing
  std::string recorded_at;         // "2026-11-21T12:13:00Z"; empty if not in the trace
  std::string recorder_arguments;  // "kmemtrace record -- make"; empty if not in the trace
  bool complete = true;            // false: reading was interrupted, and the rest of the trace is not counted
};

// All events within --time, even if no filter selects them.
struct Activity {
  std::vector<std::pair<std::string, std::uint64_t>> events;  // pairs of "system:name" and a count
  std::array<bool, kAllocators> allocated{};  // index: Allocator; true: there were allocations, including failed ones
};

// Totals of an allocator whose allocations are identified by address. Bytes have the same meaning as in Event.
struct AllocatorTotals : AllocationSums {
  std::uint64_t frees = 0;  // number of all frees, including frees without a known allocation
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

// Events that contradict each other, such as two frees of one address without an allocation in between. They are
// grouped by the call sites of both events.
struct AnomalyRow {
  Imperfection kind{};
  Allocator allocator = Allocator::slab;
  CodeAddress first;   // call site of the earlier event (allocation or previous free); address 0: there is none
  CodeAddress second;  // call site of the event that contradicts the earlier event
  std::string cache;   // empty: unknown
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  bool explained = false;  // true: the cause is known, and ExplainedAnomalies counts it
};

// The group with most live memory. Excludes pages, which may contain objects of other groups, and reclaimable memory.
struct MostLive {
  std::string group;  // GroupRow::name
  LiveCount live;
  bool is_upper_bound = false;
  TaskName process;           // the process that allocated the largest part of `live`
  LiveCount of_process;       // the part that this process allocated
  std::size_t processes = 0;  // number of all processes that allocated a part of `live`
};

// Live bytes of pages by use, as far as stacks, GFP flags and migrate types show the use.
struct LivePages {
  std::uint64_t user = 0;  // user memory and page cache
  std::uint64_t slab = 0;  // pages of slabs and large kmallocs
};

struct ReportResult {
  TraceSummary trace;
  Activity activity;
  std::vector<std::pair<std::string, std::uint64_t>> events;  // pairs of event name and count, most frequent first
  std::uint64_t calls = 0;                                    // number of calls of kernel functions
  SlabTotals slab;
  PageTotals pages;
  AllocatorTotals percpu;
  AllocatorTotals vmalloc;  // address areas: vmalloc, vmap, ioremap and all other mappings in this address range
  MemoryState memory;
  std::vector<PageOrderRow> page_orders;  // sorted by order
  std::vector<GroupKey> by;               // keys of the groups
  std::vector<GroupTable> groups;         // one table for each allocator that has events and to which a key applies
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // pairs of kind and count; only kinds that occurred
  std::vector<AnomalyRow> anomaly_sites;                         // anomalies by pair of call sites, most frequent first
  ExplainedAnomalies explained;                                  // those anomalies that have a known cause
  OlderObjectsOfTrace older;                                     // slab objects from before the trace
  Findings findings;                                             // findings of the reader, such as damage and losses
  std::vector<Matrix> matrices;                                  // one for each table of `groups`, if requested
  std::optional<MostLive> most_live;                             // set if ReportRequest::most_live is set
  std::optional<LivePages> live_pages;                           // set if ReportRequest::live_pages is set
  std::optional<Histories> histories;                            // set if ReportRequest::history is set
  std::optional<TrafficOverTime> traffic;                        // set if ReportRequest::traffic is set
};

const AllocatorTotals& totals_of(const ReportResult& report, Allocator allocator);
// Returns the live allocations of all allocators that the kernel may have freed without an event.
LiveCount maybe_freed_of(const ReportResult& report);
// Returns a row with the totals of a whole allocator, without keys.
GroupRow row_of(const AllocatorTotals& totals, Allocator allocator);

}  // namespace kmt
