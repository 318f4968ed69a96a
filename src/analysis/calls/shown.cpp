// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/shown.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

std::size_t ShownCalls::begin(TracedCall call, std::size_t parent) {
  if (is_full()) return kNone;
  std::size_t slot = calls_.size();
  if (free_.empty()) {
    calls_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  calls_[slot] = {std::move(call), ++place_, 0, parent, parent == kNone ? 0 : calls_[parent].begin};
  return slot;
}

void ShownCalls::show(std::size_t slot, bool end_seen) {
  Held& held = calls_[slot];
  if (end_seen) held.end = ++place_;
  ++held.reasons;  // keeps the call in memory until both lists below have been tried
  keep(first_, limit_, held.begin, slot);
  if (limit_ != 0 && slowest_ != 0 && held.call.duration_ns) keep(slow_, slowest_, ~*held.call.duration_ns, slot);
  lose_reason(slot);
}

void ShownCalls::keep(Heap& heap, std::size_t most, std::uint64_t goes_by, std::size_t slot) {
  ++calls_[slot].reasons;
  heap.emplace_back(goes_by, calls_[slot].begin, slot);
  if (most == 0) return;
  std::ranges::push_heap(heap);
  if (heap.size() <= most) return;
  std::ranges::pop_heap(heap);
  const std::size_t last = std::get<2>(heap.back());
  heap.pop_back();
  lose_reason(last);
}

void ShownCalls::lose_reason(std::size_t slot) {
  if (--calls_[slot].reasons > 0) return;
  if (is_there(calls_[slot])) hide_inside(calls_[slot].parent);
  drop(slot);
}

void ShownCalls::drop(std::size_t slot) {
  if (slot == kNone) return;
  calls_[slot].begin = 0;
  free_.push_back(slot);
}

void ShownCalls::hide_inside(std::size_t slot) {
  if (slot != kNone) calls_[slot].call.inside_hidden = true;
}

void ShownCalls::take(CallGraphResult& result) {
  std::vector<std::pair<std::uint64_t, std::size_t>> shown;  // pairs of (position of the start, slot)
  for (const Heap* const heap : {&first_, &slow_})
    for (const auto& [goes_by, begin, slot] : *heap) shown.emplace_back(begin, slot);
  std::ranges::sort(shown);
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  std::vector<std::uint32_t> index(calls_.size());  // index: slot; value: index of the call in the result
  std::vector<std::pair<std::uint64_t, GraphStep>> steps;
  for (const auto& [begin, slot] : shown) {
    Held& held = calls_[slot];
    const std::uint32_t i = index[slot] = static_cast<std::uint32_t>(result.calls.size());
    if (is_there(held)) held.call.parent = index[held.parent];
    if (held.call.begin_seen) steps.push_back({begin, {i, false}});
    if (held.end != 0) steps.push_back({held.end, {i, true}});
    result.calls.push_back(std::move(held.call));
  }
  std::ranges::sort(steps, {}, [](const auto& step) { return step.first; });
  for (const auto& [place, step] : steps) result.steps.push_back(step);
}

}  // namespace kmt
