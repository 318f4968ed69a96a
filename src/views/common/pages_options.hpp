// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of the result of `pages` is shown, in which order; the same for text and JSON.
#pragma once

#include <algorithm>
#include <cstddef>

#include "results/report/pages_columns.hpp"

namespace kmt {

struct PagesOptions {
  const Column<PageTaskRow>* sort = find_page_task_column("allocated-pages");
  std::size_t limit = 20;  // tasks, and failures; 0: all
  bool filtered = false;   // the result is that of a part of the trace, which somebody chose

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

}  // namespace kmt
