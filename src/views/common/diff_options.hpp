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
  std::vector<const Column<GroupRow>*> columns;  // extra columns in text, after `sort`; empty: the defaults
  std::size_t limit = 20;                        // most changed groups per table; 0: all
  Noise noise;
};

}  // namespace kmt
