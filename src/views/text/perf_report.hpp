// SPDX-License-Identifier: GPL-2.0-or-later
// A report in the shape of `perf report --stdio`: a line for each group, with its share of all.
#pragma once

#include <optional>
#include <string>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

// Whether groups have shares of it, because its values add up: those of averages, times and peaks do not.
bool adds_up(const Column<GroupRow>& column);

struct PerfReportOptions {
  const Column<GroupRow>* share_of = nullptr;  // adds up; null: of the events, as perf counts them
  std::size_t limit = 0;                       // lines; 0: all
  std::size_t keys = 0;                        // shown, the first so many of those that the result has
  std::optional<Allocator> allocator = {};     // whose events or bytes; none: the events of all, the bytes of one
};

std::string text_perf_report(const ReportResult& result, const PerfReportOptions& options);

}  // namespace kmt
