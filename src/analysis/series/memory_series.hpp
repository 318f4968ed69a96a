// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// The values of the samples about kernel memory: the lines of meminfo that memory_state_of() takes; of vmstat
// what slab, page tables and free pages hold, and what is allocated and freed (pgalloc_ZONE, pgfree: pages since boot,
// mm/page_alloc.c, Linux 6.18); of slabinfo (mm/slab_common.c) every cache. Lines without a point are left out. Sorted
// by source; meminfo and vmstat in a fixed order, caches by their first appearance.
std::vector<MemorySeries> memory_series_of(const std::vector<StateSample>& samples, std::uint64_t page_size);

}  // namespace kmt
