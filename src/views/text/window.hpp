// SPDX-License-Identifier: GPL-2.0-or-later
// The sums of each allocator in a time window, as text.
#pragma once

#include <string>

#include "results/report/report.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns nothing if the report has no window.
std::string window_lines(const ReportResult& result, const TextStyle& style);

}  // namespace kmt
