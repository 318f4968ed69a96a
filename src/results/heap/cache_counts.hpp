// SPDX-License-Identifier: GPL-2.0-or-later
// Computes with counts of the objects of slab caches.
#pragma once

#include <vector>

#include "trace/state/cache_counts.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Returns the counts between two readings of the counters, the largest change of bytes first. Omits caches that had no
// event in this time.
CacheCounts difference(const CacheCounts& from, const CacheCounts& to);

// Sets `slabinfo_objects` of the caches that are in both lists.
void compare_with_slabinfo(CacheCounts& caches, const std::vector<SlabInfo>& from, const std::vector<SlabInfo>& to);

}  // namespace kmt
