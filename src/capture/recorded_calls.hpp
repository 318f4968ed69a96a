// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of kernel functions that are to be recorded beside events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/calls/types.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

constexpr std::size_t kMostProbedFunctions = 256;  // by kprobe events, which are enabled one by one

struct TracedFunction {
  std::string name;
  std::string module;  // empty: of the kernel
  std::uint64_t address = 0;
  std::vector<ValuePath> values;  // read from memory when it is entered, in the order of CallTypes::functions
};

// Of ftrace, that is: BPF programs take no notice.
enum class CallTracer : std::uint8_t { function_graph, kprobe_events };

struct RecordedCalls {
  std::vector<TracedFunction> functions;  // no two of one address
  CallTypes types;                        // goes into the trace
  CallTracer tracer = CallTracer::function_graph;
  bool has_other_back_end = false;  // one that would have to miss calls refuses
  bool all_or_none = false;         // as one that cannot see one of them does; else it leaves that one out
};

}  // namespace kmt
