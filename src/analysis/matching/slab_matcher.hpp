// SPDX-License-Identifier: GPL-2.0-or-later
// Matches allocations of the slab allocator with their frees, by pointer, in global time order. Percpu memory and vmap
// areas follow the same rules, each in a separate matcher. A freed pointer keeps its entry: SLUB often reuses
// addresses, so one look-up serves every event. The entry also distinguishes a second free from the free of an object
// that is older than the trace. The oldest freed pointers are only forgotten when the table is full. Memory use
// therefore depends on the live objects: 24 bytes per object in a table that is at least 2/3 full.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/matching/slab_account.hpp"
#include "base/flat_map.hpp"
#include "trace/event.hpp"

namespace kmt {

constexpr std::uint64_t kZeroSizePointer = 16;  // result of kmalloc(0) (include/linux/slab.h)

// The state of a pointer: its live allocation or, if the object was freed, its last free.
struct SlabObject {
  std::uint64_t time_ns;
  std::uint32_t origin;  // live: a number that the caller assigns to the allocation; freed: call site of the free
  std::uint16_t cpu;
  // These are constants instead of bit fields, so that all flags are written as one byte.
  static constexpr std::uint8_t kLive = 0x1;
  static constexpr std::uint8_t kFreedUnmatched = 0x2;
  static constexpr std::uint8_t kFromCache = 0x4;
  static constexpr std::uint8_t kFreeCameEarly = 0x8;
  static constexpr std::uint8_t kDuplicateEvent = 0x10;
  static constexpr std::uint8_t kReplacing = 0x20;
  static constexpr std::uint8_t kFreedByRcu = 0x40;
  std::uint8_t flags;
  std::uint8_t reporter;  // reporter_of() of the event that first reported the current allocation

  bool live() const { return (flags & kLive) != 0; }
  // True if the last free matched no allocation. Only valid if the pointer is freed.
  bool freed_unmatched() const { return (flags & kFreedUnmatched) != 0; }
  // True: allocated by kmem_cache_alloc; false: by kmalloc.
  bool from_cache() const { return (flags & kFromCache) != 0; }
  // True if the kernel frees the object after a grace period, perhaps with another event. Only valid if the pointer is
  // freed.
  bool freed_by_rcu() const { return (flags & kFreedByRcu) != 0; }
  // True if another CPU freed the pointer just before this allocation and that free matched no allocation.
  bool free_came_early() const { return (flags & kFreeCameEarly) != 0; }
  // True if this is the second of two events that report the allocation.
  bool duplicate_event() const { return (flags & kDuplicateEvent) != 0; }
  // True if the pointer looked live before this allocation.
  bool replacing() const { return (flags & kReplacing) != 0; }
};
static_assert(sizeof(SlabObject) == 16);

// Reduces a call site to one byte. Two different call sites are rarely equal after that.
constexpr std::uint8_t reporter_of(CallSiteId call_site) {
  return static_cast<std::uint8_t>(1 + call_site.value % 255);
}

// True if the second event reports the same allocation as the first. Linux 6.18 reports a large kmalloc inside kvmalloc
// twice: for kvmalloc itself and immediately afterwards for its caller (mm/slub.c). The second event counts. A third
// event at this address is the next object, whose free was not recorded. A second event with the call site of the first
// is also the next object: otherwise one interrupt between two events would cause wrong pairs from then on.
inline bool is_duplicate_event(const SlabObject& first, const Event& second, std::uint64_t page_size) {
  constexpr std::uint64_t kAtOnceNs = 100'000;  // maximum time between the two events, long enough for a slow emulated
                                                // machine
  return first.live() && !first.from_cache() && !first.duplicate_event() && first.cpu == second.cpu &&
         second.time_ns - first.time_ns < kAtOnceNs &&
         !(first.replacing() && first.reporter == reporter_of(second.call_site)) &&
         is_large_kmalloc(second.kind, second.bytes_allocated, page_size);
}

enum class FreeOutcome : std::uint8_t {
  null,       // kfree(NULL): allowed, no effect
  zero_size,  // result of kmalloc(0): allowed, no effect
  matched,
  allocated_before_trace,  // first free of a pointer that was not allocated in the trace
  double_or_untraced,      // second free without an allocation in between
  end_of_rcu_free,         // a free of an object whose rcu_free event came before
};

class SlabMatcher {
 public:
  // Up to this number, freed pointers are never forgotten.
  static constexpr std::size_t kRememberedFrees = std::size_t{1} << 19;

  // Callers should call prefetch() this number of events ahead, to cover the time of one cache miss.
  static constexpr std::size_t kPrefetchDistance = 20;

  struct Free {
    FreeOutcome outcome;
    SlabObject object;  // for matched: the freed object; for double_or_untraced: the previous free
  };
  struct Allocation {
    bool replaced = false;         // true: the pointer looked live before this allocation
    bool duplicate_event = false;  // true: this event and the previous one report the same allocation
    SlabObject object;             // the object that had this pointer before this allocation
  };

  [[gnu::always_inline]] void prefetch(const Event& event) const {
    table_of(event.address).objects.prefetch(event.address);
  }
  // Adds an allocation that did not fail. If `page_size` is 0, no event counts as a duplicate.
  Allocation allocate(const Event& event, std::uint32_t origin, std::uint64_t page_size = 0);
  Free release(const Event& event);

  // Visits the live objects in no particular order.
  template <typename Visit>
  void for_each_live(Visit&& visit) const {
    for (const Table& table : tables_)
      table.objects.for_each([&](std::uint64_t address, const SlabObject& object) {
        if (object.live()) visit(address, object);
      });
  }

 private:
  // Objects are distributed over many small tables. If one of them grows, little additional memory is needed.
  struct Table {
    FlatMap<SlabObject> objects;
    std::size_t live = 0;
  };
  static constexpr unsigned kTableBits = 5;

  // Returns the index of the table for an address. It must be the same in each run, because it affects which freed
  // pointers are forgotten.
  static std::size_t index_of(std::uint64_t address) {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15ull) >> (64 - kTableBits));
  }
  const Table& table_of(std::uint64_t address) const { return tables_[index_of(address)]; }
  static std::pair<SlabObject*, bool> entry(Table& table, std::uint64_t address) {
    return table.objects.insert(address, [&table] { make_room(table); });
  }
  static void make_room(Table& table);

  // Nanoseconds. A free on one CPU may seem to precede the allocation of its object on another CPU. If the difference
  // is smaller than this, the clocks probably disagree.
  static constexpr std::uint64_t kClockSkewNs = 10'000;

  std::array<Table, std::size_t{1} << kTableBits> tables_;
};

// Inline because nearly every event passes through this function. A separate function would add a tenth to the time of
// matching.
inline SlabMatcher::Allocation SlabMatcher::allocate(const Event& event, std::uint32_t origin,
                                                     std::uint64_t page_size) {
  Table& table = tables_[index_of(event.address)];
  const auto [object, inserted] = entry(table, event.address);
  Allocation result{};
  std::uint8_t flags = SlabObject::kLive;
  std::uint8_t reporter = reporter_of(event.call_site);
  if (event.kind == EventKind::cache_alloc) flags |= SlabObject::kFromCache;
  if (!inserted) {
    result = {object->live(), is_duplicate_event(*object, event, page_size), *object};
    if (result.duplicate_event) flags |= SlabObject::kDuplicateEvent;
    if (result.replaced) {
      flags |= SlabObject::kReplacing;
      reporter = object->reporter;
    }
    if (object->freed_unmatched() && object->cpu != event.cpu && event.time_ns - object->time_ns < kClockSkewNs)
      flags |= SlabObject::kFreeCameEarly;
  }
  table.live += result.replaced ? 0 : 1;
  *object = {event.time_ns, origin, event.cpu, flags, reporter};
  return result;
}

inline SlabMatcher::Free SlabMatcher::release(const Event& event) {
  if (event.address == 0) return {FreeOutcome::null, {}};
  if (event.address == kZeroSizePointer && is_slab_free(event.kind)) return {FreeOutcome::zero_size, {}};
  Table& table = tables_[index_of(event.address)];
  const auto [object, inserted] = entry(table, event.address);
  const Free result{inserted                 ? FreeOutcome::allocated_before_trace
                    : object->live()         ? FreeOutcome::matched
                    : object->freed_by_rcu() ? FreeOutcome::end_of_rcu_free
                                             : FreeOutcome::double_or_untraced,
                    *object};
  table.live -= object->live() ? 1 : 0;
  std::uint8_t flags = result.outcome == FreeOutcome::matched ? 0 : SlabObject::kFreedUnmatched;
  if (result.outcome == FreeOutcome::end_of_rcu_free) flags = 0;
  if (event.kind == EventKind::rcu_free) flags |= SlabObject::kFreedByRcu;
  *object = {event.time_ns, event.call_site.value, event.cpu, flags, 0};
  return result;
}

}  // namespace kmt
