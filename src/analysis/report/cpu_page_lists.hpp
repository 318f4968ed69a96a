// SPDX-License-Identifier: GPL-2.0-or-later
// Determines which freed pages a CPU keeps in its own lists (pcp_allowed_order() in mm/page_alloc.c). These are pages
// of order 0 and, since Linux 5.14, pages up to order 3 and huge pages. Other pages immediately return to the free
// lists of their zone.
#pragma once

#include <optional>

#include "trace/trace_info.hpp"

namespace kmt {

struct CpuPageLists {
  unsigned most_order = 0;
  std::optional<unsigned> huge_order;

  bool take(unsigned order) const { return order <= most_order || order == huge_order; }
};

// Returns the rules of the traced kernel, or of the latest kernel if the version is unknown.
CpuPageLists cpu_page_lists(const TraceInfo& info);

}  // namespace kmt
