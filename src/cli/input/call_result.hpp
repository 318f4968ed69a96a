// SPDX-License-Identifier: GPL-2.0-or-later
// A result about a trace's calls, with what the graph of them does not know itself.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

// Other types than the traced kernel's own make other arguments of the same registers: says so, or that nothing tells,
// or that those in the file are not used. Of no `file` nothing.
void say_whose_types(const std::string& file, const TraceInfo& info, const CallTypeSource& types);

// After the end of the trace, once: what names and types lack, and which functions were refused or not called.
CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types);

}  // namespace kmt
