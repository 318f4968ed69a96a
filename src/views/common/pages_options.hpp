// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON results of `pages`: which part to show, and in which order.
#pragma once

#include <algorithm>
#include <cstddef>

#include "results/report/pages_columns.hpp"

namespace kmt {

struct PagesOptions {
  const Column<PageTaskRow>* sort = find_page_task_column("allocated-pages");
  std::size_t limit = 20;  // maximum number of tasks and of failures to show; 0: all
  bool filtered = false;   // true: filters select only a part of the trace

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

}  // namespace kmt
