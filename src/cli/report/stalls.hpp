// SPDX-License-Identifier: GPL-2.0-or-later
// Prints how long tasks waited for memory, for `pages --stalls` and `report --metric stall`.
#pragma once

#include <cstddef>

#include "cli/input/analyse.hpp"

namespace kmt {

// Shows at most `limit` groups in each table, and at most `limit` waits; 0: all. Uses only the filter, keys and tree of
// `request`. Returns the exit status.
int report_stalls(const AnalyseOptions& options, ReportRequest request, std::size_t limit, const ResultOptions& result);

}  // namespace kmt
