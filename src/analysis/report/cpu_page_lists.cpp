// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/cpu_page_lists.hpp"

#include "trace/kernel_release.hpp"

namespace kmt {

CpuPageLists cpu_page_lists(const TraceInfo& info) {
  constexpr KernelVersion kFirst{5, 14};
  constexpr unsigned kCostlyOrder = 3;  // PAGE_ALLOC_COSTLY_ORDER
  if (version_of(info.machine.kernel).value_or(kFirst) < kFirst) return {};
  return {kCostlyOrder, info.machine.pageblock_order};
}

}  // namespace kmt
