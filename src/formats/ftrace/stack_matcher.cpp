// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/stack_matcher.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

namespace {

// Maximum number of events of one context that wait for their stacks. Several wait only if events occur while the
// kernel captures an event's stack. If one more event has to wait, the oldest one gets no stack.
constexpr std::size_t kMostNested = 4;
// Number of events that are held back until the first stack of the trace is found: one event, and one for each kind of
// interrupt. The number is small because most traces have no stacks.
constexpr std::size_t kHeldWithoutStacks = 4;
// Maximum number of events that are held back while an event waits for its stack, because each batch copies them.
constexpr std::size_t kMostHeld = 512;

constexpr std::uint8_t kInterrupts = Context::kSoftIrq | Context::kHardIrq | Context::kNmi;

bool same_context(const Event& a, const Event& b) {
  return a.tid == b.tid && (a.context & kInterrupts) == (b.context & kInterrupts);
}

bool is_user_stack(const Event& event) {
  return event.kind == EventKind::other && (event.page_flags & StackFlags::kUser) != 0;
}

// true if the event gets its stack together with the preceding event
bool shares_stack(const Event& event) {
  return (event.kind == EventKind::bulk_free || event.kind == EventKind::cache_alloc ||
          event.kind == EventKind::page_alloc) &&
         (event.page_flags & BulkFlags::kSameRecord) != 0;
}

// Sets the stack of an event, and of the further events of the same record.
void set_stack(EventBatch& batch, std::size_t index, StackId stack) {
  batch[index].stack = stack;
  while (++index < batch.size() && shares_stack(batch[index])) batch[index].stack = stack;
}

}  // namespace

void StackMatcher::match(EventBatch& batch) {
  if (has_no_stacks()) {  // the trace has had no stack so far
    if (!losses_.empty()) next_ = losses_.back();
    losses_.clear();
    return;
  }
  auto loss = losses_.begin();
  const auto pass_loss = [&] {
    if (loss == losses_.end() || *loss > next_) return;
    while (loss != losses_.end() && *loss <= next_) ++loss;
    waiting_.clear();
  };
  for (; next_ < batch.size(); ++next_) {
    pass_loss();
    if (shares_stack(batch[next_])) continue;
    if (is_user_stack(batch[next_]))
      give_user_stack(batch, batch[next_]);
    else if (batch[next_].stack == StackId{})
      add_waiting(batch, next_);
    else
      give_stack(batch, batch[next_]);
  }
  pass_loss();
  losses_.clear();
}

void StackMatcher::add_waiting(const EventBatch& batch, std::size_t index) {
  const Event& event = batch[index];
  const unsigned level = interrupt_level(event);
  std::size_t nested = 0;
  while (!waiting_.empty() && interrupt_level(batch[waiting_.back()]) > level) waiting_.pop_back();
  // Remove events that have a kernel stack and wait for a user stack. They have no user stack, because it would have
  // come before this event.
  while (!users_.any() && !waiting_.empty() && interrupt_level(batch[waiting_.back()]) == level &&
         batch[waiting_.back()].stack != StackId{})
    waiting_.pop_back();
  for (auto other = waiting_.rbegin(); other != waiting_.rend() && interrupt_level(batch[*other]) == level; ++other)
    ++nested;
  if (nested > 0 && !same_context(batch[waiting_.back()], event)) {
    // Another task runs now. Events of the earlier task get no stacks any more.
    waiting_.resize(waiting_.size() - nested);
  } else if (nested == kMostNested) {
    waiting_.erase(waiting_.end() - kMostNested);
  }
  waiting_.push_back(index);
}

void StackMatcher::give_stack(EventBatch& batch, Event& stack) {
  const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](std::size_t index) {
    return batch[index].stack == StackId{} && same_context(batch[index], stack);
  });
  if (found == waiting_.rend()) return report_unmatched(stack);
  set_stack(batch, *found, std::exchange(stack.stack, {}));
  waiting_.erase(found.base(), waiting_.end());  // *found is not erased, because its user stack may follow
}

// Gives a user stack to the event that it belongs to. The kernel writes a user stack after every event, even if the
// stack is empty.
void StackMatcher::give_user_stack(EventBatch& batch, const Event& stack) {
  const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                  [&](std::size_t index) { return same_context(batch[index], stack); });
  if (found == waiting_.rend()) {
    if (stack.address != 0) report_unmatched(stack);
    return;
  }
  const Event& event = batch[*found];
  if (interrupt_level(event) == 0)
    set_stack(batch, *found, users_.place(event.stack, {static_cast<std::uint32_t>(stack.address)}, event.time_ns));
  waiting_.erase(found.base() - 1, waiting_.end());
}

void StackMatcher::report_unmatched(const Event& stack) {
  info_.findings.add({Imperfection::unmatched_stack, "", stack.cpu, {}, stack.time_ns});
}

void StackMatcher::hold_back(EventBatch& batch, EventBatch& held) {
  std::size_t from = batch.size();
  if (has_no_stacks()) {
    from = std::max(from - std::min(from, kHeldWithoutStacks), next_);
    while (from > next_ && from < batch.size() && shares_stack(batch[from])) --from;
    next_ = 0;
  } else {
    while (!waiting_.empty() && batch.size() - waiting_.front() > kMostHeld) waiting_.erase(waiting_.begin());
    if (!waiting_.empty()) from = waiting_.front();
    next_ = batch.size() - from;
    for (std::size_t& index : waiting_) index -= from;
  }
  held.assign(batch.begin() + static_cast<std::ptrdiff_t>(from), batch.end());
  batch.resize(from);
}

bool StackedStream::read(EventBatch& batch) {
  batch.clear();
  batch.swap(held_);
  while (!ended_ && append(batch)) {
    stacks_.match(batch);
    stacks_.hold_back(batch, held_);
    if (!batch.empty()) return true;
    batch.swap(held_);
  }
  ended_ = true;  // this time, return the events that were held back
  return !batch.empty();
}

}  // namespace kmt
