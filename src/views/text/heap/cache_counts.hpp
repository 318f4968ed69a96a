// SPDX-License-Identifier: GPL-2.0-or-later
// Shows counts of the objects of slab caches.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/state/cache_counts.hpp"
#include "views/text/style.hpp"
#include "views/text/table.hpp"

namespace kmt {

Table cache_table(std::span<const CacheCount> caches, const TextStyle& style);
// Returns the table of the caches whose bytes changed most, with a heading and notes. Empty if no cache had an event.
std::string cache_counts_text(const CacheCounts& caches, const TextStyle& style);
// Returns a sentence for each kind of objects that were not counted.
std::vector<std::string> uncounted_notes(const UncountedObjects& uncounted, const TextStyle& style);
// Returns the line that explains why there are no counts. Empty if the kernel supports them.
std::string missing_caches_line(const CacheCounts& caches, const TextStyle& style);

}  // namespace kmt
