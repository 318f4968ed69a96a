// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/matching.hpp"

#include <algorithm>

namespace kmt {

namespace {

enum class Role : std::uint8_t { none, allocation, free, page_allocation, page_free };
constexpr auto kRoles = [] {
  std::array<Role, 256> roles{};  // index: EventKind
  for (unsigned number = 0; number < roles.size(); ++number) {
    const auto kind = static_cast<EventKind>(number);
    roles[number] = is_allocation(kind)             ? Role::allocation
                    : is_free(kind)                 ? Role::free
                    : kind == EventKind::page_alloc ? Role::page_allocation
                    : kind == EventKind::page_free  ? Role::page_free
                                                    : Role::none;
  }
  return roles;
}();

unsigned unit_of(const Event& event) {
  if (allocator_of(event.kind) != Allocator::slab) return kSlabUnits;
  return static_cast<unsigned>((event.address * 0xD6E8FEB86659FD93ull) >> 62);
}

}  // namespace

bool Classifier::begin_batch(const EventBatch& events) {
  if (!begun_ && !events.empty()) {
    filter_.begin(events.front().time_ns);
    begun_ = true;
  }
  return grouping_.begin_batch();
}

void Classifier::end_batch(const EventBatch& events, BatchOrigins& origins) {
  if (grouping_.by_freer()) {
    origins.freers.assign(events.size(), 0);
    for (std::size_t i = 0; i < events.size(); ++i)
      if (is_free(events[i].kind) || events[i].kind == EventKind::page_free)
        origins.freers[i] = grouping_.freer_of(events[i]);
  }
  origins.new_origins = grouping_.take_new_origins();
}

void Classifier::classify(MatchedBatch& batch, BatchOrigins& origins) {
  static_assert(kSlabUnits == 4, "unit_of() takes two bits");
  batch.steps.assign(batch.events.size(), {});
  batch.pages.clear();
  for (auto& queue : batch.queues) queue.clear();
  begin_batch(batch.events);
  for (std::uint32_t i = 0; i < batch.events.size(); ++i) classify(batch.events[i], i, batch.steps[i], batch);
  end_batch(batch.events, origins);
}

void Classifier::classify(const Event& event, std::uint32_t index, Step& step, MatchedBatch& batch) {
  grouping_.see(event);
  if (!filter_.in_window(event.time_ns)) return;
  step.outcome = Outcome::other;
  step.selected = filter_.selects(event);
  const Role role = kRoles[static_cast<std::uint8_t>(event.kind)];
  if (role == Role::none) return;
  const bool of_pages = role == Role::page_allocation || role == Role::page_free;
  if (of_pages && event.order > kMostPageOrder) {
    step.outcome = Outcome::impossible_order;
    return;
  }
  const bool allocates = role == Role::allocation || role == Role::page_allocation;
  if (allocates && step.selected) step.origin = grouping_.origin_of(event);
  if (allocates && event.address == (of_pages ? kNoPage : 0))
    step.outcome = Outcome::failed;
  else
    batch.queues[unit_of(event)].push_back(index);
}

void Matching::match(MatchedBatch& batch, unsigned unit) {
  const std::vector<std::uint32_t>& queue = batch.queues[unit];
  if (unit == kSlabUnits) {
    for (const std::uint32_t index : queue) {
      const Event& event = batch.events[index];
      const Allocator allocator = allocator_of(event.kind);
      if (allocator == Allocator::pages)
        match_pages(batch, index);
      else
        match_pointer(event, batch.steps[index], others_[static_cast<std::size_t>(allocator)]);
    }
    return;
  }
  SlabMatcher& objects = slab_[unit];
  constexpr std::size_t kAhead = SlabMatcher::kPrefetchDistance;
  for (std::size_t i = 0; i < std::min(queue.size(), kAhead); ++i) objects.prefetch(batch.events[queue[i]]);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i + kAhead < queue.size()) objects.prefetch(batch.events[queue[i + kAhead]]);
    match_pointer(batch.events[queue[i]], batch.steps[queue[i]], objects);
  }
}

void Matching::match_pointer(const Event& event, Step& step, SlabMatcher& objects) const {
  if (is_allocation(event.kind)) {
    const auto [replaced, duplicate_event, old] = objects.allocate(event, step.origin, page_size_);
    step.outcome = Outcome::began;
    if (!replaced) return;
    if (duplicate_event) step.outcome = Outcome::duplicate_event;
    if (old.free_came_early()) step.outcome = Outcome::began_after_early_free;
    step.replaced = old.origin;
    step.began_ns = old.time_ns;
    step.began_cpu = old.cpu;
    return;
  }
  const auto [outcome, object] = objects.release(event);
  switch (outcome) {
    case FreeOutcome::zero_size:
    case FreeOutcome::end_of_rcu_free: step.outcome = Outcome::freed_nothing; break;
    case FreeOutcome::null: step.outcome = Outcome::freed_null; break;
    case FreeOutcome::matched:
      step.outcome = Outcome::freed;
      step.origin = object.origin;
      step.began_ns = object.time_ns;
      step.began_cpu = object.cpu;
      break;
    case FreeOutcome::allocated_before_trace: step.outcome = Outcome::allocated_before_trace; break;
    case FreeOutcome::double_or_untraced:
      step.outcome = Outcome::double_or_untraced;
      step.freed_again = true;
      step.call_site = {object.origin};
      step.began_ns = object.time_ns;
      break;
  }
}

void Matching::match_pages(MatchedBatch& batch, std::uint32_t index) {
  Event& event = batch.events[index];
  Step& step = batch.steps[index];
  if (frames_.is_listed_again(event)) {
    event.kind = EventKind::other;  // so that no later stage counts it as an allocation
    return;
  }
  const auto taken = [&](const LiveFrames& block, std::uint64_t pages) {
    batch.pages.push_back({index, block.origin, block.time_ns, pages, block.cpu, block.order, block.head});
  };
  if (event.kind == EventKind::page_alloc) {
    step.outcome = Outcome::began;
    frames_.allocate(event, step.origin, taken);
    freed_.allocate(event);
    return;
  }
  const std::size_t before = batch.pages.size();
  frames_.release(event.address, event.order, taken);
  const auto freed_before = freed_.free(event);
  step.outcome = batch.pages.size() > before ? Outcome::freed
                 : freed_before              ? Outcome::double_or_untraced
                                             : Outcome::allocated_before_trace;
  if (!freed_before) return;
  step.freed_again = true;
  step.call_site = freed_before->call_site;
  step.began_ns = freed_before->time_ns;
}

}  // namespace kmt
