// SPDX-License-Identifier: GPL-2.0-or-later
// `report --style perf-kmem`: the tables of `perf kmem stat`, for scripts that read them. The shape is perf's (Linux
// 6.1, as it prints it), the numbers are those of the report; docs/perf-kmem.md says where they differ.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

struct PerfKmemOptions {
  // A table, and how many rows of it; 0: all.
  std::optional<std::size_t> callers;
  std::optional<std::size_t> addresses;
  bool slab = true;
  bool pages = false;
  bool live = false;                       // of pages: what is live at the end
  bool raw_ip = false;                     // addresses in place of symbols
  const Column<GroupRow>* sort = nullptr;  // null: as perf does
};

// What the report has to group by.
std::vector<GroupKey> perf_kmem_keys(const PerfKmemOptions& options);

// Whether it names code: call sites are only shown in tables.
bool shows_code(const PerfKmemOptions& options);

std::string text_perf_kmem(const ReportResult& result, const PerfKmemOptions& options);

// What perf says on stderr, or not at all: lost events, damage, an interrupted reading. A line each; often none.
std::string perf_kmem_warnings(const ReportResult& result);

}  // namespace kmt
