// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the result of `pages` to show, and its order; the same for text and JSON.
#pragma once

#include <algorithm>
#include <cstddef>

#include "results/report/pages_columns.hpp"

namespace kmt {

struct PagesOptions {
  const Column<PageTaskRow>* sort = find_page_task_column("allocated-pages");
  std::size_t limit = 20;  // tasks and failures; 0: all
  bool filtered = false;   // filters select a part of the trace

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

}  // namespace kmt
