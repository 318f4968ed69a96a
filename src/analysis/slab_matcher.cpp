// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slab_matcher.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kmt {

namespace {
// A free that is this little earlier than the allocation of its object, on another CPU, hints at clocks that disagree.
constexpr std::uint64_t kClockSkewNs = 10'000;
}  // namespace

// Forgets the older half of the freed pointers, where they are many.
void SlabMatcher::make_room(Table& table) {
  constexpr std::size_t kRemembered = kRememberedFrees >> kTableBits;
  if (table.objects.size() - table.live < kRemembered) return;
  std::vector<std::uint64_t> times;
  table.objects.for_each([&times](std::uint64_t, const SlabObject& object) {
    if (!object.live) times.push_back(object.time_ns);
  });
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  table.objects.retain(
      [oldest = *middle](std::uint64_t, const SlabObject& object) { return object.live || object.time_ns > oldest; });
}

SlabMatcher::Allocation SlabMatcher::allocate(const Event& event, std::uint32_t origin) {
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

SlabMatcher::Free SlabMatcher::release(const Event& event) {
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
