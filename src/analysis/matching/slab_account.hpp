// SPDX-License-Identifier: GPL-2.0-or-later
// The line of /proc/meminfo in which the kernel counts memory of its slab allocator.
#pragma once

#include <cstdint>
#include <string>

#include "trace/event.hpp"

namespace kmt {

enum class SlabAccount : std::uint8_t {
  unreclaimable,  // SUnreclaim
  reclaimable,    // SReclaimable: caches with SLAB_RECLAIM_ACCOUNT, and kmalloc with __GFP_RECLAIMABLE
  pages,          // neither: a kmalloc that is too large for the largest cache
};

// The largest object of a kmalloc cache (KMALLOC_MAX_CACHE_SIZE in include/linux/slab.h, SLUB): two pages.
constexpr bool is_large_kmalloc(EventKind kind, std::uint64_t bytes_allocated, std::uint64_t page_size) {
  return kind == EventKind::kmalloc && page_size > 0 && bytes_allocated > 2 * page_size;
}

// True for a reclaimable cache, by its name or, if that is unknown, by the function that allocates from it (Linux
// 6.18).
bool is_reclaimable_cache(const std::string& cache, const std::string& function);
// True for reclaimable memory and for memory that is freed with it.
bool is_shrinkable(const std::string& cache, const std::string& function);

}  // namespace kmt
