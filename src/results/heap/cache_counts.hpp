// SPDX-License-Identifier: GPL-2.0-or-later
// Computes with counts of the objects of slab caches.
#pragma once

#include <string_view>

#include "trace/state/cache_counts.hpp"

namespace kmt {

// Returns the counts between two readings of the counters, the largest change of bytes first. Leaves out caches without
// an event.
CacheCounts difference(const CacheCounts& from, const CacheCounts& to);

// Sets `slabinfo_objects` of the caches that both texts of /proc/slabinfo have.
void compare_with_slabinfo(CacheCounts& caches, std::string_view from, std::string_view to);

}  // namespace kmt
