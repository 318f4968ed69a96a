// SPDX-License-Identifier: GPL-2.0-or-later
// `report --style perf-kmem` prints the tables of `perf kmem stat`, for scripts that read these tables. The layout is
// that of perf (Linux 6.1), and the numbers are those of `report`. docs/perf-kmem.md lists the differences.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

struct PerfKmemOptions {
  // Maximum numbers of rows of the table of callers and of the table of addresses; 0 means all. A table without a
  // number is not shown.
  std::optional<std::size_t> callers;
  std::optional<std::size_t> addresses;
  bool slab = true;
  bool pages = false;
  bool live = false;                       // true: the table of pages shows only pages that are live at the end
  bool raw_ip = false;                     // true: show addresses instead of symbols
  const Column<GroupRow>* sort = nullptr;  // if null, the rows have the default order of perf
};

// Returns the keys by which the report must be grouped.
std::vector<GroupKey> perf_kmem_keys(const PerfKmemOptions& options);

// True if the output has the symbols of call sites. Only the tables of callers and of addresses have call sites.
bool shows_code(const PerfKmemOptions& options);

std::string text_perf_kmem(const ReportResult& result, const PerfKmemOptions& options);

// Returns lines about lost events, damage and interrupted reading. Empty if there is nothing to report. perf prints
// such lines to stderr or not at all.
std::string perf_kmem_warnings(const ReportResult& result);

}  // namespace kmt
