// SPDX-License-Identifier: GPL-2.0-or-later
// A call graph in the form of ftrace's function_graph, with memory, and the sums of its functions.
#pragma once

#include <string>

#include "views/common/graph_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_graph(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style);

}  // namespace kmt
