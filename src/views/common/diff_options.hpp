// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of a comparison is shown, in which order; the same for text and JSON.
#pragma once

#include <cstddef>
#include <vector>

#include "results/report/diff.hpp"

namespace kmt {

struct DiffOptions {
  const Column<GroupRow>* sort = find_group_column("allocated");  // of diff_columns(): by the size of its change
  std::vector<const Column<GroupRow>*> columns;                   // beside that one, for text; empty: the usual ones
  std::size_t limit = 20;                                         // changed groups of each table; 0: all
  Noise noise;
};

}  // namespace kmt
