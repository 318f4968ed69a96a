// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Returns the values about kernel memory from all samples. From meminfo: the lines that memory_state_of() uses. From
// vmstat: the sizes of slab, page tables and free pages, and the pages allocated and freed (pgalloc_ZONE, pgfree: pages
// since boot, mm/page_alloc.c, Linux 6.18). From slabinfo (mm/slab_common.c): every cache. Lines without a value are
// left out. The result is sorted by source. Within a source, lines of meminfo and vmstat have a fixed order, and caches
// the order of their first appearance.
std::vector<MemorySeries> memory_series_of(const std::vector<StateSample>& samples, std::uint64_t page_size);

}  // namespace kmt
