// SPDX-License-Identifier: GPL-2.0-or-later
// The part of a comparison to show, and its order; the same for text and JSON.
#pragma once

#include <cstddef>
#include <vector>

#include "results/report/diff.hpp"

namespace kmt {

struct DiffOptions {
  const Column<GroupRow>* sort = find_group_column("allocated");  // from diff_columns(): by the size of the change
  std::vector<const Column<GroupRow>*> columns;                   // shown beside `sort` in text; empty: the defaults
  std::size_t limit = 20;                                         // changed groups per table; 0: all
  Noise noise;
};

}  // namespace kmt
