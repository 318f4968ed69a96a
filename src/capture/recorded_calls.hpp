// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of kernel functions to record besides events.
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
  std::vector<ValuePath> values;  // read from memory at the entry, in the order of CallTypes::functions
};

// For ftrace; BPF programs ignore it.
enum class CallTracer : std::uint8_t { function_graph, kprobe_events };

struct RecordedCalls {
  std::vector<TracedFunction> functions;  // all addresses differ
  CallTypes types;                        // goes into the trace
  CallTracer tracer = CallTracer::function_graph;
  bool has_other_back_end = false;  // refuse if calls would be missed
  bool all_or_none = false;         // refuse if a function cannot be recorded; else skip it
};

}  // namespace kmt
