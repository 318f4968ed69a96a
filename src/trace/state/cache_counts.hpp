// SPDX-License-Identifier: GPL-2.0-or-later
// Exact counts of the objects of each slab cache. The kernel counts them, so they are not estimates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// Counts of allocations and frees of one slab cache. UncountedObjects has what they lack.
struct CacheCount {
  std::string name;
  std::uint32_t object_bytes = 0;  // size of an object with its padding
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  // Change of active_objs in /proc/slabinfo; empty if the file is not readable. Includes the objects of all tasks, and
  // allocations and frees without an event.
  std::optional<std::int64_t> slabinfo_objects;

  std::int64_t net_objects() const { return static_cast<std::int64_t>(allocations - frees); }
  // Unsigned arithmetic, because counts from a damaged file may overflow.
  std::int64_t net_bytes() const { return static_cast<std::int64_t>((allocations - frees) * object_bytes); }
};

// Two caches may have the same name. They are different rows only if their objects have different sizes.
inline bool is_same_cache(const CacheCount& a, const CacheCount& b) {
  return a.name == b.name && a.object_bytes == b.object_bytes;
}

enum class CacheCounting : std::uint8_t {
  not_requested,
  unsupported,  // the kernel does not report the cache of a freed object (before Linux 6.13)
  counted
};

// Objects that the counts lack.
struct UncountedObjects {
  std::uint64_t objects = 0;           // objects that were not counted, because a table in the kernel was full
  std::vector<std::string> functions;  // kernel functions without a tracepoint whose objects are not counted
  std::string reason;                  // why the objects of `functions` are not counted; empty if it is unknown
  // Number of calls of other such functions that were not counted, because the CPU was still counting an earlier call
  // of the same function.
  std::uint64_t missed_calls = 0;
};

struct CacheCounts {
  CacheCounting counting = CacheCounting::not_requested;
  std::vector<CacheCount> rows;
  UncountedObjects uncounted;
};

}  // namespace kmt
