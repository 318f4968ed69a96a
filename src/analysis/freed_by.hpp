// SPDX-License-Identifier: GPL-2.0-or-later
// Which function may free what, by kernel version.
#pragma once

#include <string>

#include "trace/event.hpp"

namespace kmt {

// Since Linux 6.4 (without SLOB) kfree() takes objects of any slab cache. An unknown release counts as new: no false
// alarm.
bool kfree_takes_cache_objects(const std::string& release);

// kmem_cache_free of a kmalloc object, or kfree of a cache's object where that is not allowed.
inline bool freed_by_wrong_family(bool from_cache, const Event& free, bool cache_object_may_be_kfreed) {
  if (free.kind == EventKind::cache_free) return !from_cache;
  return from_cache && !cache_object_may_be_kfreed;
}

// To another cache than the one that the allocation names, by the ids of their names; 0: not said.
inline bool freed_to_wrong_cache(std::uint32_t allocated_from, const Event& free) {
  return allocated_from != 0 && free.cache.value != 0 && allocated_from != free.cache.value;
}

}  // namespace kmt
