// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the stacks of open calls, task by task, and where events of them may be lost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "results/calls/graph.hpp"
#include "trace/calls/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// As the kernel measured a call that ends.
std::optional<std::uint64_t> measured_duration(const CallEvent& end);

struct OpenCall {
  std::uint32_t function = 0;  // numbered by the caller of CallStacks
  std::uint8_t depth = 0;
  std::uint8_t level = 0;         // of interrupts
  bool on_top = false;            // the first call of an interrupt
  bool runs_in_itself = false;    // the function is among the calls below, of an interrupted task too
  bool is_inside_itself = false;  // among those that it is inside of
  std::uint64_t began_ns = 0;
  std::uint32_t frame = 0;                      // if the event has it
  std::uint8_t context = 0;                     // the interrupt_level() of what is around it, whatever the function
  bool on_softirq = false;                      // an interrupt that came to a softirq, or that softirq
  bool counts_hardirq = false;                  // the function does
  std::optional<std::uint64_t> lost_before_ns;  // the last event before the first loss while it ran

  // The rest is CallGraph's alone.
  std::uint32_t node = 0;        // of CallGraph
  std::uint8_t shown_level = 0;  // of nesting, within what is selected
  bool selected = false;
  bool may_be_shown = false;
  std::size_t slot = ~std::size_t{0};  // in ShownCalls
  std::uint64_t inner_ns = 0;          // in calls on top of it
  InsideSums inside;
};

// From one event to a later one; 0 where the times of a damaged trace go back.
constexpr std::uint64_t time_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

struct TaskCalls {
  std::vector<OpenCall> calls;  // the innermost is last; depths rise
  std::uint64_t last_ns = 0;    // when and where the task was last seen
  std::uint16_t last_cpu = 0;
  bool unsure = false;  // events were lost, and the task's place is unknown until its next start or end

  // nullptr: none.
  OpenCall* innermost() { return calls.empty() ? nullptr : &calls.back(); }
  // Returns the innermost call if the event happens in it; nullptr: it is on top of all, or that is unknown.
  OpenCall* around(const Event& event);
};

// Lost events by CPU.
class Losses {
 public:
  explicit Losses(const TraceInfo& info) : info_(info) {}
  // Returns the start of a CPU's first loss that overlaps this time, and that is before the end.
  std::optional<std::uint64_t> first_between(std::uint16_t cpu, std::uint64_t from_ns, std::uint64_t to_ns);

 private:
  const TraceInfo& info_;
  std::size_t known_ = 0;
  std::vector<std::vector<std::size_t>> by_cpu_;  // indices into TraceLosses::stretches, in order
};

// Follows the calls of all tasks. Memory is that of the calls that are open.
class CallStacks {
 public:
  // Called for each call that has ended and is removed from its task. `end` is nullptr if it was not seen.
  using Ended = std::function<void(TaskCalls&, const OpenCall&, const CallEvent* end)>;

  CallStacks(const TraceInfo& info, Ended ended) : info_(info), losses_(info), ended_(std::move(ended)) {}

  // The calls that are open in the task of an event, nullptr where there are none; valid until the next event.
  TaskCalls* at(const Event& event);
  // A call begins, the last one of what is returned. `level` is that of its function, as interrupt_level_of().
  TaskCalls& enter(const Event& event, std::uint32_t function, std::uint8_t level);
  // Ends a call. False: its start is not in the trace; at() returns the call that it was inside of.
  bool leave(const Event& event, std::uint32_t function);
  // At the end of the trace: whatever is open ends unseen.
  void finish();

  // The place of the last event's task while it has open calls, and a call that is open there.
  std::uint32_t place() const { return place_; }
  OpenCall& call_of(std::uint32_t place, std::uint32_t node);

 private:
  TaskCalls* find(const Event& event);
  bool is_another(const TaskCalls& task, const Event& event) const;
  void see(TaskCalls& task, const Event& event);
  void close(TaskCalls& task, const CallEvent* end);
  void close_from_depth(TaskCalls& task, unsigned depth);

  const TraceInfo& info_;
  Losses losses_;
  Ended ended_;
  std::vector<TaskCalls> tasks_;
  std::vector<std::uint32_t> free_;  // places in tasks_
  FlatMap<std::uint32_t> places_;    // of tasks that have open calls
  std::uint32_t place_ = 0;
};

}  // namespace kmt
