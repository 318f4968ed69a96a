// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON comparisons: which part to show, and in which order.
#pragma once

#include <cstddef>
#include <vector>

#include "results/report/diff.hpp"

namespace kmt {

struct DiffOptions {
  // One of diff_columns(); rows are sorted by the size of the change.
  const Column<GroupRow>* sort = find_group_column("allocated");
  // columns that the text shows after `sort`; if empty, the text shows the default columns
  std::vector<const Column<GroupRow>*> columns;
  std::size_t limit = 20;  // maximum number of groups per table; the most changed groups are shown; 0 means all
  Noise noise;
};

}  // namespace kmt
