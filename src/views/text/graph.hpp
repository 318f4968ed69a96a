// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a call graph as text in the format of ftrace's function_graph. Adds the memory that each call allocated, and a
// table of functions.
#pragma once

#include <string>

#include "views/common/graph_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_graph(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style);

}  // namespace kmt
