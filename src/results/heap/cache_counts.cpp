// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/cache_counts.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

namespace kmt {

namespace {

// Returns the active objects of all caches with this name and object size.
std::optional<std::uint64_t> active_objects(const std::vector<SlabInfo>& slabs, const CacheCount& cache) {
  std::optional<std::uint64_t> sum;
  for (const SlabInfo& slab : slabs)
    if (slab.name == cache.name && slab.object_bytes == cache.object_bytes) sum = sum.value_or(0) + slab.active_objects;
  return sum;
}

}  // namespace

CacheCounts difference(const CacheCounts& from, const CacheCounts& to) {
  CacheCounts result;
  result.counting = to.counting;
  result.uncounted = to.uncounted;
  result.uncounted.objects -= from.uncounted.objects;
  result.uncounted.missed_calls -= from.uncounted.missed_calls;
  for (CacheCount cache : to.rows) {
    const auto before =
        std::ranges::find_if(from.rows, [&](const CacheCount& one) { return is_same_cache(one, cache); });
    if (before != from.rows.end()) {
      cache.allocations -= before->allocations;
      cache.frees -= before->frees;
    }
    if (cache.allocations + cache.frees > 0) result.rows.push_back(std::move(cache));
  }
  std::ranges::stable_sort(result.rows, std::ranges::greater(),
                           [](const CacheCount& one) { return std::abs(one.net_bytes()); });
  return result;
}

void compare_with_slabinfo(CacheCounts& caches, const std::vector<SlabInfo>& from, const std::vector<SlabInfo>& to) {
  for (CacheCount& cache : caches.rows) {
    const auto first = active_objects(from, cache), last = active_objects(to, cache);
    if (first && last) cache.slabinfo_objects = static_cast<std::int64_t>(*last - *first);
  }
}

}  // namespace kmt
