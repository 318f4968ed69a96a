// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `graph`: recorded calls of kernel functions, with the memory allocated inside each call.
// docs/formats/graph-json.md has the definitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"
#include "trace/calls/refused_functions.hpp"
#include "trace/calls/signature.hpp"
#include "trace/event.hpp"
#include "trace/missed_events.hpp"

namespace kmt {

struct InsideSum {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t failed = 0;

  bool any() const { return allocations > 0 || failed > 0; }
  InsideSum& operator+=(const InsideSum& other);
};
// Index: Allocator. Do not add bytes of different allocators, because slab objects, for example, are in pages.
using InsideSums = std::array<InsideSum, kAllocators>;

// One recorded call of a function. Members whose data the trace lacks are empty. `inside` includes memory that callees
// allocate, but not memory that interrupts allocate during the call.
struct TracedCall {
  std::uint32_t function = 0;  // index into CallGraphResult::functions
  std::int32_t tid = 0;
  std::string task;            // name of the task at the start of the call
  std::uint16_t cpu = 0;       // CPU at the start, or end_cpu if the start was not seen
  std::uint16_t end_cpu = 0;   // CPU at the end, or `cpu` if the end was not seen
  std::uint8_t level = 0;      // nesting level among the shown calls; 0 for an outermost call
  std::uint8_t interrupt = 0;  // context of the call: 0 task, 1 softirq, 2 hardirq, 3 NMI
  bool on_top = false;         // true: the outermost call of an interrupt
  bool begin_seen = true;
  bool end_seen = false;
  bool lost_events = false;  // events were lost or may have been lost during the call
  // True: the call has `lost_events` only because calls may have been missed. No other events were lost.
  bool only_missed = false;
  bool inside_hidden = false;  // some callees are not shown
  // Index into `calls`: the shown call that surrounds this call, or that this call interrupts.
  std::optional<std::uint32_t> parent;
  std::uint64_t began_ns = 0;
  std::uint64_t ended_ns = 0;
  // Duration in nanoseconds. It is the duration that function_graph measured, if recorded; otherwise the time between
  // the call's start and end events.
  std::optional<std::uint64_t> duration_ns;
  std::optional<std::uint64_t> return_value;  // raw value of the return register
  bool typed = false;                         // true: the signature of the function is known
  std::optional<CallValues> arguments;        // set if arguments were recorded and the start was seen
  std::optional<CallValue> result;            // set if the result was recorded and the function returns a value
  // Memory allocated in the call. An allocation counts as live if it was not freed before the call returned. If the
  // return was not seen, the allocation counts as live if it was not freed in the trace.
  InsideSums inside;
};

// Returns "softirq", "hardirq" or "nmi", or nullptr for a call in task context.
const char* interrupt_name(const TracedCall& call);

struct GraphStep {
  std::uint32_t call = 0;  // index into CallGraphResult::calls
  bool is_end = false;
};

// Sums over all selected calls of a function, even if they are not shown. If a function calls itself, only the
// outermost call counts for total_ns and `inside`.
struct GraphFunction {
  std::uint64_t address = 0;
  std::string name;         // function name without an offset into its code
  std::uint64_t calls = 0;  // number of calls whose start is in the trace
  // Number of calls that match all filters, including calls that --limit hides.
  std::uint64_t selected = 0;
  std::uint64_t cut_off = 0;      // number of calls whose start or end is not in the trace, so that their duration is
                                  // unknown
  std::uint64_t lost_events = 0;  // number of calls during which events were lost
  std::uint64_t timed = 0;        // number of calls with a known duration; if 0, the next three members are unknown
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  // time without traced callees and interrupts
  std::uint64_t longest_ns = 0;
  InsideSums inside;       // memory counts as live if it is live at the end of the trace
  InsideSums inside_self;  // memory allocated outside traced callees
};

struct CallGraphResult {
  TraceSummary trace;
  std::vector<TracedCall> calls;  // the shown calls
  std::vector<GraphStep> steps;   // starts and ends of `calls`, in order
  // Number of calls that match all filters, including calls that --limit hides.
  std::uint64_t calls_selected = 0;
  std::uint64_t calls_traced = 0;        // number of all recorded calls in the trace
  std::vector<GraphFunction> functions;  // unsorted
  // Memory allocated outside all traced calls; counts as live if it is live at the end of the trace.
  InsideSums outside;
  std::vector<LostEvents> gaps;          // intervals with lost events, sorted by `before_ns`
  std::vector<MissedEvents> missed;      // calls that the recorder missed on an unknown CPU, with the approximate time
  std::vector<std::string> not_called;   // functions that were traced but never called, if known
  std::vector<RefusedFunction> refused;  // functions that were requested but could not be traced
  bool has_return_values = false;
  bool has_arguments = false;
  bool has_types = false;
  bool is_blank = false;  // arguments and results were removed (anonymised) from the trace
  Findings findings;
};

std::span<const Column<GraphFunction>> graph_function_columns();
// Returns the rows sorted by a column: numbers in descending order, names in ascending order. Equal rows are sorted by
// total time, then by name. The pointers point into `rows`.
std::vector<const GraphFunction*> sorted_functions(const std::vector<GraphFunction>& rows,
                                                   const Column<GraphFunction>& by);

// Returns the error that a function returned (for example -22), using the rule of IS_ERR_VALUE() for words of
// `word_bits` bits. A negative int in a longer register is also an error, as in ftrace. Empty if the function returned
// no error.
std::optional<int> returned_error(std::uint64_t value, unsigned word_bits);
// Returns the error that a call returned. Uses the type of the function's result if the type is known.
std::optional<int> returned_error(const TracedCall& call, unsigned word_bits);
// True if the call returned an error, or if the function's type marks the result as a failure.
bool has_failed(const TracedCall& call, unsigned word_bits);
// Returns the result, formatted for the function's return type. If the type is unknown, returns the error or the raw
// value of the register. Empty if the result was not recorded.
std::optional<CallValue> known_result(const TracedCall& call, unsigned word_bits);

}  // namespace kmt
