// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of a report is shown, in which order; the same for text and JSON.
#pragma once

#include <cstddef>

#include "results/columns.hpp"

namespace kmt {

struct ReportOptions {
  const Column<CallSiteRow>* sort = nullptr;  // null: by bytes allocated
  std::size_t limit = 20;                     // call sites of each table; 0: all
  bool filtered = false;                      // the result is that of a part of the trace, which somebody chose
};

const Column<CallSiteRow>& sort_column(const ReportOptions& options);
// The column of the same key in the percpu table, or its bytes allocated where it has none.
const Column<CallSiteRow>& percpu_sort_column(const ReportOptions& options);
// How many of `total` rows are shown.
std::size_t shown_rows(const ReportOptions& options, std::size_t total);

}  // namespace kmt
