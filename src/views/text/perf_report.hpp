// SPDX-License-Identifier: GPL-2.0-or-later
// A report in the layout of `perf report --stdio`: a line for each group, with its share.
#pragma once

#include <optional>
#include <string>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

struct PerfReportOptions {
  const Column<GroupRow>* share_of = nullptr;  // column of the percentages; null: number of events, as in perf
  std::size_t limit = 0;                       // lines; 0: all
  std::size_t keys = 0;                        // number of keys to show, from the first key of the result
  // Counts only this allocator; empty: all events, or bytes of the default allocator.
  std::optional<Allocator> allocator = {};
};

std::string text_perf_report(const ReportResult& result, const PerfReportOptions& options);

}  // namespace kmt
