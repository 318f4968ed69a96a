// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `graph`: calls of kernel functions as they were recorded, with the memory allocated inside. The
// definitions are those of docs/formats/graph-json.md.
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
using InsideSums = std::array<InsideSum, kAllocators>;  // by Allocator: their bytes are never to be added

// A call, or the known part of it. Its inside includes the calls that it made, but not interrupts on top.
struct TracedCall {
  std::uint32_t function = 0;  // index into functions
  std::int32_t tid = 0;
  std::string task;            // its name when the call began
  std::uint16_t cpu = 0;       // at its start, or end_cpu if that was not seen
  std::uint16_t end_cpu = 0;   // at its end; likewise
  std::uint8_t level = 0;      // of nesting in what is shown
  std::uint8_t interrupt = 0;  // of what it belongs to: 0 a task, 1 a soft interrupt, 2 a hard one, 3 an NMI
  bool on_top = false;         // it is the first call of an interrupt
  bool begin_seen = true;
  bool end_seen = false;
  bool lost_events = false;             // some were lost, or may have been, while it ran
  bool only_missed = false;             // calls may have been missed then, and nothing is known to be lost
  bool inside_hidden = false;           // it made calls that are not shown
  std::optional<std::uint32_t> parent;  // the shown call around it, or below: index into calls
  std::uint64_t began_ns = 0;
  std::uint64_t ended_ns = 0;
  std::optional<std::uint64_t> duration_ns;   // as function_graph measured it, else between its records
  std::optional<std::uint64_t> return_value;  // the register
  bool typed = false;                         // the function's signature is known
  std::optional<CallValues> arguments;        // if recorded, and the start was seen
  std::optional<CallValue> result;            // if recorded, and the function returns something
  InsideSums inside;                          // live: at the return, or at the end of the trace if that was not seen
};

// "softirq", "hardirq", "nmi"; nullptr: of a task.
const char* interrupt_name(const TracedCall& call);

struct GraphStep {
  std::uint32_t call = 0;  // index into calls
  bool is_end = false;
};

// Sums over all selected calls of a function, shown or not. If a function calls itself, only the outer call counts for
// its total time and its inside.
struct GraphFunction {
  std::uint64_t address = 0;
  std::string name;               // without an offset
  std::uint64_t calls = 0;        // with their start in the trace
  std::uint64_t selected = 0;     // calls that all options select, shown or left out by a limit
  std::uint64_t cut_off = 0;      // without start or end in the trace: they have no time
  std::uint64_t lost_events = 0;  // calls during which events were lost
  std::uint64_t timed = 0;        // calls with a known time; 0: the next three are unknown
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  // without traced calls inside, and without interrupts on top
  std::uint64_t longest_ns = 0;
  InsideSums inside;       // live: at the end of the trace
  InsideSums inside_self;  // not inside the calls that it made
};

struct CallGraphResult {
  TraceSummary trace;
  std::vector<TracedCall> calls;         // that are shown
  std::vector<GraphStep> steps;          // their begins and ends, in order
  std::uint64_t calls_selected = 0;      // those that are shown, and those that a limit left out
  std::uint64_t calls_traced = 0;        // by the whole trace
  std::vector<GraphFunction> functions;  // unsorted
  InsideSums outside;                    // allocated in no traced call; live: at the end of the trace
  std::vector<LostEvents> gaps;          // places of lost events, by `before_ns`
  std::vector<MissedEvents> missed;      // events of no known CPU that were missed, and about when
  std::vector<std::string> not_called;   // functions that were recorded, where that is known, and not called
  std::vector<RefusedFunction> refused;  // functions that were to be recorded, but could not be
  bool has_return_values = false;
  bool has_arguments = false;
  bool has_types = false;
  bool is_blank = false;  // arguments and results were taken out of the trace
  Findings findings;
};

std::span<const Column<GraphFunction>> graph_function_columns();
// From the largest, by name from the first; among equals by total time, then by name. Pointers into `rows`.
std::vector<const GraphFunction*> sorted_functions(const std::vector<GraphFunction>& rows,
                                                   const Column<GraphFunction>& by);

// -22 for an error that a function returned, by IS_ERR_VALUE() with words of that many bits; a negative int in a longer
// register is one too, as in ftrace. Empty for other values.
std::optional<int> returned_error(std::uint64_t value, unsigned word_bits);
// The same of a call: by its type where that is known.
std::optional<int> returned_error(const TracedCall& call, unsigned word_bits);
// Whether it returned an error, of which flags may tell, too.
bool has_failed(const TracedCall& call, unsigned word_bits);
// The result: by type, else an error or the register. Empty if it was not recorded.
std::optional<CallValue> known_result(const TracedCall& call, unsigned word_bits);

}  // namespace kmt
