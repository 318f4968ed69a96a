// SPDX-License-Identifier: GPL-2.0-or-later
// Analyses a trace as the commands `report` and `leaks` do.
#pragma once

#include <string>

#include "analysis/report/report.hpp"
#include "library/convert.hpp"

namespace kmemtrace {

struct Analysed {
  kmt::ReportResult result;
  Machine machine;  // the machine on which the trace was recorded
};

// `kallsyms` is the path of a file with kernel symbols, or empty. Throws kmt::Error.
Analysed analyse(const std::string& path, const std::string& kallsyms, kmt::ReportRequest request);

// Returns the grouping keys with these names. Throws Error if a name is unknown or occurs twice, or if there are too
// many names or none.
std::vector<kmt::GroupKey> keys_named(const std::vector<std::string>& names);

}  // namespace kmemtrace
