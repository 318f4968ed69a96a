// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the result from the call graph and adds notes that need the trace file, its symbols or its types.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

// Prints a note if the types in `file` are not used, belong to another kernel than the traced one, or are of unknown
// origin. With types of another kernel, the output would show wrong arguments. Prints nothing if `file` is empty.
void say_whose_types(const std::string& file, const TraceInfo& info, const CallTypeSource& types);

// Returns the result about calls. Adds notes about missing names and types, about functions that the kernel refused to
// trace, and about functions that were never called. Call it once, after the end of the trace.
CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types);

}  // namespace kmt
