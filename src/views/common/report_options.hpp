// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of a report is shown, in which order; the same for text and JSON.
#pragma once

#include <cstddef>
#include <vector>

#include "results/columns.hpp"

namespace kmt {

struct ReportOptions {
  const Column<GroupRow>* sort = nullptr;        // null: by bytes allocated
  std::vector<const Column<GroupRow>*> columns;  // empty: the usual ones that tell something
  std::size_t limit = 20;                        // groups of each table; 0: all
  bool over_time = false;                        // a picture of each group's live bytes, where the report has histories
  bool filtered = false;                         // the result is that of a part of the trace, which somebody chose
};

// The column that orders these rows: the one that was asked for, or bytes allocated where none of them has a value.
const Column<GroupRow>& sort_column(const ReportOptions& options, const std::vector<GroupRow>& rows);
// How many of `total` rows are shown.
std::size_t shown_rows(const ReportOptions& options, std::size_t total);

}  // namespace kmt
