// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON reports: which part to show, and in which order.
#pragma once

#include <cstddef>
#include <vector>

#include "results/columns.hpp"

namespace kmt {

struct ReportOptions {
  const Column<GroupRow>* sort = nullptr;        // null: sort by bytes allocated
  std::vector<const Column<GroupRow>*> columns;  // if empty, the default columns that have values are shown
  std::size_t limit = 20;                        // maximum number of groups per table; 0: all
  bool over_time = false;    // true: plot the live bytes of each group over time, if the report has this data
  bool filtered = false;     // true: filters select only a part of the trace
  bool table_first = false;  // true: the user asked for a table, so the table precedes the totals
  bool is_brief = false;     // true: show at most 60 lines, with the totals and the largest groups
};

// Returns the column to sort by: the requested column, or bytes allocated if no row has a value in the requested
// column.
const Column<GroupRow>& sort_column(const ReportOptions& options, const std::vector<GroupRow>& rows);
std::size_t shown_rows(const ReportOptions& options, std::size_t total);

}  // namespace kmt
