// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a call graph as JSON (docs/formats/graph-json.md).
#pragma once

#include <string>

#include "views/common/graph_options.hpp"

namespace kmt {

std::string json_graph(const CallGraphResult& result, const GraphOptions& options);

}  // namespace kmt
