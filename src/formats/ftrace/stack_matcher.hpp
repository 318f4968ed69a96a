// SPDX-License-Identifier: GPL-2.0-or-later
// Gives stacks to the events they belong to. With the tracer's options `stacktrace` and `userstacktrace` the kernel
// writes an event's stacks after it, as separate records, the user stack last. An interrupt between them writes its own
// events and stacks there (kernel/trace/trace.c, trace_buffer_unlock_commit_regs; Linux 2.6.31 to 6.18):
//   event A, event B of an interrupt, stack of B, stack of A, user stack of A
// An interrupt does not act for the program that it interrupts: its events get no user stack.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/user_stacks.hpp"
#include "trace/time_merge.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// One CPU's.
class StackMatcher {
 public:
  // `users` belong to the decoder of the events.
  StackMatcher(TraceInfo& info, UserStacks& users) : info_(info), users_(users) {}

  // Continues after the last call. Events whose stacks may still come stay in the batch, for hold_back().
  void match(EventBatch& batch);
  // Marks a loss between the events before and after this call: no stack crosses it.
  void lost_at(std::size_t index) { losses_.push_back(index); }
  // Moves the events that wait for their stacks from the batch's end to `held`.
  void hold_back(EventBatch& batch, EventBatch& held);

 private:
  void add_waiting(const EventBatch& batch, std::size_t index);
  void give_stack(EventBatch& batch, Event& stack);
  void give_user_stack(EventBatch& batch, const Event& stack);
  void report_unmatched(const Event& stack);
  bool has_no_stacks() const { return !info_.tables.stacks.has_stacks() && !users_.any(); }

  TraceInfo& info_;
  UserStacks& users_;
  std::size_t next_ = 0;              // index of the first unmatched event
  std::vector<std::size_t> waiting_;  // indices of events that lack a stack, few, in order
  std::vector<std::size_t> losses_;   // indices of events after a loss
};

// A CPU's events from a reader, with their stacks.
class StackedStream : public CpuStream {
 public:
  StackedStream(TraceInfo& info, UserStacks& users) : stacks_(info, users) {}
  bool read(EventBatch& batch) final;

 protected:
  // Appends some events, maybe none; false at the end, after which it is not called.
  virtual bool append(EventBatch& batch) = 0;
  void lost_at(std::size_t index) { stacks_.lost_at(index); }

 private:
  StackMatcher stacks_;
  EventBatch held_;
  bool ended_ = false;
};

}  // namespace kmt
