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

LiveCount maybe_freed_of(const ReportResult& report) {
  LiveCount sum = report.slab.maybe_freed;
  sum += report.percpu.maybe_freed;
  return sum += report.vmalloc.maybe_freed;
}

GroupRow row_of(const AllocatorTotals& totals, Allocator allocator) {
  GroupRow row;
  row.allocator = allocator;
  static_cast<AllocationSums&>(row) = static_cast<const AllocationSums&>(totals);
  row.peak_bytes = totals.peak_bytes;
  row.cross_node_frees = totals.cross_node_frees;
  row.lifetimes = totals.lifetimes;
  row.knows_bytes = totals.knows_bytes;
  return row;
}

}  // namespace kmt
