// SPDX-License-Identifier: GPL-2.0-or-later
// Pairs allocations of the slab allocator with their frees, by pointer, in global time order; percpu memory and vmap
// areas follow the same rules, each in a matcher of its own. One table entry for every pointer the
// trace has named; a freed one keeps its entry: SLUB gives the same addresses again and again, and a second free must
// be told from the free of an object that was there before the trace.
#pragma once

#include <cstdint>

#include "base/flat_map.hpp"
#include "trace/event.hpp"

namespace kmt {

constexpr std::uint64_t kZeroSizePointer = 16;  // what kmalloc(0) returns (include/linux/slab.h)

// An allocation, as its free will want to know it.
struct SlabObject {
  std::uint64_t time_ns;  // of the allocation; of the last free when it is not live
  std::uint64_t bytes_allocated;
  CallSiteId call_site;
  std::uint16_t cpu;  // of the allocation; of the last free when it is not live
  bool live : 1;
  bool freed_unmatched : 1;  // not live: the last free found no allocation
  bool from_cache : 1;       // kmem_cache_alloc, not kmalloc
  bool selected : 1;         // passed the caller's filter
  bool free_came_early : 1;  // another CPU freed it, unmatched, just before this allocation
};
static_assert(sizeof(SlabObject) == 24);

enum class FreeOutcome : std::uint8_t {
  null,       // kfree(NULL): legal, nothing happens
  zero_size,  // of what kmalloc(0) returned: legal, nothing happens
  matched,
  allocated_before_trace,  // first free of a pointer that was not allocated in the trace
  double_or_untraced,      // a second free with no allocation between
};

class SlabMatcher {
 public:
  struct Free {
    FreeOutcome outcome;
    SlabObject object;  // what was freed; only when matched
  };
  struct Allocation {
    bool replaced = false;  // the pointer was live
    SlabObject object;      // what was replaced
  };

  void prefetch(const Event& event) const { objects_.prefetch(event.address); }
  // Of an allocation with a non-NULL result.
  Allocation allocate(const Event& event, bool selected);
  Free release(const Event& event);

 private:
  FlatMap<SlabObject> objects_;
};

}  // namespace kmt
