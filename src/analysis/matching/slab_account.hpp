// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the line of /proc/meminfo in which the kernel counts a slab allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/event.hpp"

namespace kmt {

enum class SlabAccount : std::uint8_t {
  unreclaimable,  // SUnreclaim
  reclaimable,    // SReclaimable: objects of caches with SLAB_RECLAIM_ACCOUNT, and kmalloc with __GFP_RECLAIMABLE
  pages,          // no slab line of meminfo: kmalloc objects too large for any kmalloc cache
};

// True if a kmalloc is too large for any kmalloc cache. The largest objects in SLUB's caches have two pages: see
// KMALLOC_MAX_CACHE_SIZE in include/linux/slab.h.
constexpr bool is_large_kmalloc(EventKind kind, std::uint64_t bytes_allocated, std::uint64_t page_size) {
  return kind == EventKind::kmalloc && page_size > 0 && bytes_allocated > 2 * page_size;
}

// True for reclaimable caches of Linux 6.18. They are identified by the cache's name, or by the allocating function if
// the name is unknown.
bool is_reclaimable_cache(const std::string& cache, const std::string& function);
// True for reclaimable memory, and for memory that is freed when reclaimable memory is freed.
bool is_shrinkable(const std::string& cache, const std::string& function);
// Like is_shrinkable(), for a call site whose cache is unknown. `symbol` may have an offset and a module.
bool is_shrinkable_site(std::string_view symbol);
// Returns the cache from which a function always allocates; empty if unknown.
std::string_view only_cache_of(std::string_view function);

}  // namespace kmt
