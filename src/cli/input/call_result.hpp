// SPDX-License-Identifier: GPL-2.0-or-later
// Completes a result about a trace's calls with facts that its graph does not have.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

// Types of another kernel turn the same registers into other arguments. Notes that they are another kernel's or of
// unknown origin, or that those in the file are unused. Without `file`, prints nothing.
void say_whose_types(const std::string& file, const TraceInfo& info, const CallTypeSource& types);

// Call it once after the trace's end. Notes missing names and types, and functions that were refused or not called.
CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types);

}  // namespace kmt
