// SPDX-License-Identifier: GPL-2.0-or-later
// What a reader may add up by any stretch of time, as columns of numbers: docs/formats/html-json.md, "explore".
#pragma once

#include <string>

#include "results/report/report.hpp"

namespace kmt {

// Of a report with traffic that is grouped by explore_keys(). What is small is put together, so that it has some MiB at
// most, however large the trace.
std::string json_explore(const ReportResult& result, bool has_stacks);
std::vector<GroupKey> explore_keys(bool has_stacks);

}  // namespace kmt
