// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the kernel functions whose calls are recorded in addition to events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/calls/types.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

// maximum number of functions for kprobe events, because these are enabled one at a time
constexpr std::size_t kMostProbedFunctions = 256;

struct TracedFunction {
  std::string name;
  std::string module;  // empty for functions of the kernel itself
  std::uint64_t address = 0;
  std::vector<ValuePath> values;  // values read at the function's entry, in the order of CallTypes::functions
};

// How ftrace records calls. Not used if BPF programs record them.
enum class CallTracer : std::uint8_t { function_graph, kprobe_events };

struct RecordedCalls {
  std::vector<TracedFunction> functions;  // each function has a different address
  CallTypes types;                        // description of the functions, which is written to the trace
  CallTracer tracer = CallTracer::function_graph;
  // If true, the recorder throws Error instead of missing calls, so that the caller can use another back end.
  bool has_other_back_end = false;
  bool all_or_none = false;  // true: throw Error if a function cannot be recorded; false: skip the function
};

}  // namespace kmt
