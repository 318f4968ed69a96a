// SPDX-License-Identifier: GPL-2.0-or-later
// A result about a trace's calls, with what the graph of them does not know itself.
#pragma once

#include "analysis/call_graph.hpp"
#include "cli/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

// After the end of the trace, once: what names and types lack, and which functions were refused or not called.
CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types);

}  // namespace kmt
