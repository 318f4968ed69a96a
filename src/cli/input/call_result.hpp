// SPDX-License-Identifier: GPL-2.0-or-later
// Completes the result about a trace's calls with facts that the call graph does not contain.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

// Prints a note if the types in `file` are unused, are not from the traced kernel, or are of unknown origin. With the
// types of another kernel, the same registers would be shown as other arguments. Prints nothing if `file` is empty.
void say_whose_types(const std::string& file, const TraceInfo& info, const CallTypeSource& types);

// Call it once, after the end of the trace. Adds notes about missing names and types, and about functions that were
// refused or never called.
CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types);

}  // namespace kmt
