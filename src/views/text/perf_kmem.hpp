// SPDX-License-Identifier: GPL-2.0-or-later
// `report --style perf-kmem`: the tables of `perf kmem stat`, for scripts that read them. The layout is that of perf
// (Linux 6.1), and the numbers are from the report; docs/perf-kmem.md lists the differences.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

struct PerfKmemOptions {
  // Set if the table is shown: its number of rows; 0: all.
  std::optional<std::size_t> callers;
  std::optional<std::size_t> addresses;
  bool slab = true;
  bool pages = false;
  bool live = false;                       // pages table: shows only pages live at the end
  bool raw_ip = false;                     // addresses instead of symbols
  const Column<GroupRow>* sort = nullptr;  // null: perf's default
};

// The keys to group the report by.
std::vector<GroupKey> perf_kmem_keys(const PerfKmemOptions& options);

// True if the output has call sites, which only the tables show.
bool shows_code(const PerfKmemOptions& options);

std::string text_perf_kmem(const ReportResult& result, const PerfKmemOptions& options);

// Returns lines on lost events, damage and interrupted reading. perf prints such lines to stderr or not at all. Often
// empty.
std::string perf_kmem_warnings(const ReportResult& result);

}  // namespace kmt
