// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slab_matcher.hpp"

namespace kmt {

namespace {
// A free that is this little earlier than the allocation of its object, on another CPU, hints at clocks that disagree.
constexpr std::uint64_t kClockSkewNs = 10'000;
}  // namespace

SlabMatcher::Allocation SlabMatcher::allocate(const Event& event, bool selected) {
  const auto [object, inserted] = objects_.insert(event.address);
  Allocation result{};
  bool free_came_early = false;
  if (!inserted) {
    result.replaced = object->live;
    result.object = *object;
    free_came_early = !object->live && object->freed_unmatched && object->cpu != event.cpu &&
                      event.time_ns - object->time_ns < kClockSkewNs;
  }
  object->time_ns = event.time_ns;
  object->bytes_allocated = event.bytes_allocated;
  object->call_site = event.call_site;
  object->cpu = event.cpu;
  object->live = true;
  object->freed_unmatched = false;
  object->from_cache = event.kind == EventKind::cache_alloc;
  object->selected = selected;
  object->free_came_early = free_came_early;
  return result;
}

SlabMatcher::Free SlabMatcher::release(const Event& event) {
  if (event.address == 0) return {FreeOutcome::null, {}};
  if (event.address == kZeroSizePointer && is_slab_free(event.kind)) return {FreeOutcome::zero_size, {}};
  const auto [object, inserted] = objects_.insert(event.address);
  const Free result{inserted       ? FreeOutcome::allocated_before_trace
                    : object->live ? FreeOutcome::matched
                                   : FreeOutcome::double_or_untraced,
                    *object};
  object->time_ns = event.time_ns;
  object->cpu = event.cpu;
  object->freed_unmatched = result.outcome != FreeOutcome::matched;
  object->live = false;
  return result;
}

}  // namespace kmt
