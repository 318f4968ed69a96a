// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a report in the layout of `perf report --stdio`, with a line for each group and its share.
#pragma once

#include <optional>
#include <string>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

struct PerfReportOptions {
  // column from which the percentages are computed; null: the number of events, as in perf
  const Column<GroupRow>* share_of = nullptr;
  std::size_t limit = 0;  // maximum number of lines; 0: all
  std::size_t keys = 0;   // number of keys to show, starting with the first key of the result
  // The allocator to count. If empty, numbers of events include all allocators, and bytes are those of the default
  // allocator.
  std::optional<Allocator> allocator = {};
};

std::string text_perf_report(const ReportResult& result, const PerfReportOptions& options);

}  // namespace kmt
