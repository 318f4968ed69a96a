// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers that a reader can sum over any time range: docs/formats/html-json.md, "explore".
#pragma once

#include <string>

#include "results/report/report.hpp"

namespace kmt {

// Takes a report with traffic grouped by explore_keys(). Small groups are merged, so the document has a few MiB at
// most, however large the trace.
std::string json_explore(const ReportResult& result, bool has_stacks);
std::vector<GroupKey> explore_keys(bool has_stacks);

}  // namespace kmt
