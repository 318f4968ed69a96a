// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/report.hpp"

namespace kmt {

const AllocatorTotals& totals_of(const ReportResult& report, Allocator allocator) {
  switch (allocator) {
    case Allocator::slab: return report.slab;
    case Allocator::percpu: return report.percpu;
    case Allocator::vmap: return report.vmalloc;
    case Allocator::pages: break;
  }
  return report.pages;
}

}  // namespace kmt
