// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns stacks to their events. With the tracer's options `stacktrace` and `userstacktrace`, the kernel writes the
// stacks of an event after the event, as separate records. The user stack comes last. An interrupt in between writes
// its own events and stacks there (kernel/trace/trace.c, trace_buffer_unlock_commit_regs; Linux 2.6.31 to 6.18):
//   event A, event B of an interrupt, stack of B, stack of A, user stack of A
// Events of an interrupt get no user stack, because the interrupt does not act for the program that it interrupts.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/user_stacks.hpp"
#include "trace/time_merge.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Matches the events of one CPU with their stacks.
class StackMatcher {
 public:
  // `users` is RecordDecoder::user_stacks() of the trace's decoder.
  StackMatcher(TraceInfo& info, UserStacks& users) : info_(info), users_(users) {}

  // Matches the events that were appended since the last call. Then call hold_back(), which removes events that may
  // still get a stack.
  void match(EventBatch& batch);
  // Marks a loss before the event with this index. A stack after the loss never belongs to an event before the loss.
  void lost_at(std::size_t index) { losses_.push_back(index); }
  // Moves events that still wait for their stacks from the end of the batch to `held`.
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
  std::vector<std::size_t> waiting_;  // indices of events that wait for a stack, in order; never many
  std::vector<std::size_t> losses_;   // indices of the first events after losses
};

// Reads the events of one CPU and assigns their stacks.
class StackedStream : public CpuStream {
 public:
  StackedStream(TraceInfo& info, UserStacks& users) : stacks_(info, users) {}
  bool read(EventBatch& batch) final;

 protected:
  // Appends the next events to the batch; there may be none. Returns false at the end, and is then not called again.
  virtual bool append(EventBatch& batch) = 0;
  void lost_at(std::size_t index) { stacks_.lost_at(index); }

 private:
  StackMatcher stacks_;
  EventBatch held_;
  bool ended_ = false;
};

}  // namespace kmt
