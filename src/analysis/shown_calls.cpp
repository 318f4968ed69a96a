// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/shown_calls.hpp"

#include <algorithm>

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
  if (end_seen) calls_[slot].end = ++place_;
  const bool is_one_more = is_full();
  shown_.emplace_back(calls_[slot].begin, slot);
  if (limit_ == 0) return;
  std::ranges::push_heap(shown_);
  if (!is_one_more) return;
  std::ranges::pop_heap(shown_);  // the one that began last
  const std::size_t last = shown_.back().second;
  shown_.pop_back();
  if (is_there(calls_[last])) hide_inside(calls_[last].parent);
  drop(last);
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
  std::ranges::sort(shown_);
  std::vector<std::uint32_t> index(calls_.size());  // in the result, by slot
  std::vector<std::pair<std::uint64_t, GraphStep>> steps;
  for (const auto& [begin, slot] : shown_) {
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
