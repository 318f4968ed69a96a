// SPDX-License-Identifier: GPL-2.0-or-later
// Writes columns of numbers that the front end can sum over any time range (docs/formats/html-json.md, "explore").
#pragma once

#include <string>

#include "results/report/report.hpp"

namespace kmt {

// The report must have traffic and be grouped by explore_keys(). Small groups are merged, so that even for large traces
// the document has only a few MiB.
std::string json_explore(const ReportResult& result, bool has_stacks);
std::vector<GroupKey> explore_keys(bool has_stacks);

}  // namespace kmt
