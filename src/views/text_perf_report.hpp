// SPDX-License-Identifier: GPL-2.0-or-later
// A report in the shape of `perf report --stdio`: a line for each group, with its share of all.
#pragma once

#include <string>

#include "results/columns.hpp"
#include "results/report.hpp"

namespace kmt {

struct PerfReportOptions {
  const Column<GroupRow>* share_of = nullptr;  // null: of the events, as perf counts them
  std::size_t limit = 0;                       // lines; 0: all
};

std::string text_perf_report(const ReportResult& result, const PerfReportOptions& options);

}  // namespace kmt
