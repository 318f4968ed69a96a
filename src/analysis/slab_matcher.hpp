// SPDX-License-Identifier: GPL-2.0-or-later
// Pairs allocations of the slab allocator with their frees, by pointer, in global time order; percpu memory and vmap
// areas follow the same rules, each in a matcher of its own. A freed pointer keeps its entry: SLUB gives the same
// addresses again and again, one look-up serves every event, and a second free can be told from the free of an object
// that was there before the trace. Only when the table is full the longest freed are forgotten: memory follows what is
// live, 24 bytes an object in a table that is at least 2/3 full.
#pragma once

#include <array>
#include <cstdint>

#include "base/flat_map.hpp"
#include "trace/event.hpp"

namespace kmt {

constexpr std::uint64_t kZeroSizePointer = 16;  // what kmalloc(0) returns (include/linux/slab.h)

// An allocation, as its free will want to know it; of a freed pointer, its last free.
struct SlabObject {
  std::uint64_t time_ns;
  std::uint32_t origin;  // what the caller calls the allocation; not live: the call site of the free
  std::uint16_t cpu;
  bool live : 1;
  bool freed_unmatched : 1;  // not live: the last free found no allocation
  bool from_cache : 1;       // kmem_cache_alloc, not kmalloc
  bool free_came_early : 1;  // another CPU freed it, unmatched, just before this allocation
};
static_assert(sizeof(SlabObject) == 16);

enum class FreeOutcome : std::uint8_t {
  null,       // kfree(NULL): legal, nothing happens
  zero_size,  // of what kmalloc(0) returned: legal, nothing happens
  matched,
  allocated_before_trace,  // first free of a pointer that was not allocated in the trace
  double_or_untraced,      // a second free with no allocation between
};

class SlabMatcher {
 public:
  // Freed pointers are remembered at least until so many of them fill a full table.
  static constexpr std::size_t kRememberedFrees = std::size_t{1} << 19;

  struct Free {
    FreeOutcome outcome;
    SlabObject object;  // matched: what was freed; freed again: the free before
  };
  struct Allocation {
    bool replaced = false;  // the pointer was live
    SlabObject object;      // what was replaced
  };

  void prefetch(const Event& event) const { table_of(event.address).objects.prefetch(event.address); }
  // Of an allocation with a non-NULL result.
  Allocation allocate(const Event& event, std::uint32_t origin);
  Free release(const Event& event);

  // In no order that means anything.
  template <typename Visit>
  void for_each_live(Visit&& visit) const {
    for (const Table& table : tables_)
      table.objects.for_each([&](std::uint64_t address, const SlabObject& object) {
        if (object.live) visit(address, object);
      });
  }

 private:
  // Many small tables, so that growing one needs little memory beside.
  struct Table {
    FlatMap<SlabObject> objects;
    std::size_t live = 0;
  };
  static constexpr unsigned kTableBits = 5;

  // Which table must not differ from run to run, since what is forgotten depends on it.
  static std::size_t index_of(std::uint64_t address) {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15ull) >> (64 - kTableBits));
  }
  const Table& table_of(std::uint64_t address) const { return tables_[index_of(address)]; }
  static std::pair<SlabObject*, bool> entry(Table& table, std::uint64_t address) {
    if (table.objects.is_full()) make_room(table);
    return table.objects.insert(address);
  }
  static void make_room(Table& table);

  // A free that is this little earlier than the allocation of its object, on another CPU, hints at clocks that
  // disagree.
  static constexpr std::uint64_t kClockSkewNs = 10'000;

  std::array<Table, std::size_t{1} << kTableBits> tables_;
};

// Here, since every event of most traces comes by: calls and copies were a tenth of matching.
inline SlabMatcher::Allocation SlabMatcher::allocate(const Event& event, std::uint32_t origin) {
  Table& table = tables_[index_of(event.address)];
  const auto [object, inserted] = entry(table, event.address);
  Allocation result{};
  bool free_came_early = false;
  if (!inserted) {
    result.replaced = object->live;
    result.object = *object;
    free_came_early = !object->live && object->freed_unmatched && object->cpu != event.cpu &&
                      event.time_ns - object->time_ns < kClockSkewNs;
  }
  table.live += result.replaced ? 0 : 1;
  *object = {.time_ns = event.time_ns,
             .origin = origin,
             .cpu = event.cpu,
             .live = true,
             .freed_unmatched = false,
             .from_cache = event.kind == EventKind::cache_alloc,
             .free_came_early = free_came_early};
  return result;
}

inline SlabMatcher::Free SlabMatcher::release(const Event& event) {
  if (event.address == 0) return {FreeOutcome::null, {}};
  if (event.address == kZeroSizePointer && is_slab_free(event.kind)) return {FreeOutcome::zero_size, {}};
  Table& table = tables_[index_of(event.address)];
  const auto [object, inserted] = entry(table, event.address);
  const Free result{inserted       ? FreeOutcome::allocated_before_trace
                    : object->live ? FreeOutcome::matched
                                   : FreeOutcome::double_or_untraced,
                    *object};
  table.live -= object->live ? 1 : 0;
  *object = {.time_ns = event.time_ns,
             .origin = event.call_site.value,
             .cpu = event.cpu,
             .live = false,
             .freed_unmatched = result.outcome != FreeOutcome::matched,
             .from_cache = false,
             .free_came_early = false};
  return result;
}

}  // namespace kmt
