// SPDX-License-Identifier: GPL-2.0-or-later
// Writes columns of numbers, which the front end can sum up over any range of time (docs/formats/html-json.md,
// "explore").
#pragma once

#include <string>

#include "results/report/report.hpp"

namespace kmt {

// Returns the document for the explorer. The report must have data about traffic and must be grouped by explore_keys().
// Small groups are merged, so the document has only a few MiB even for large traces.
std::string json_explore(const ReportResult& result, bool has_stacks);
std::vector<GroupKey> explore_keys(bool has_stacks);

}  // namespace kmt
