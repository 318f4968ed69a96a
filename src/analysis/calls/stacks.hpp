// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the stack of open calls of each task. Marks calls during which events may have been lost.
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

// Returns the duration measured by the kernel for a call that ends; empty if not recorded.
std::optional<std::uint64_t> measured_duration(const CallEvent& end);

struct OpenCall {
  std::uint32_t function = 0;  // number that the user of CallStacks assigned to the function
  std::uint8_t depth = 0;
  std::uint8_t level = 0;         // interrupt level in which the call runs
  bool on_top = false;            // outermost call of an interrupt
  bool runs_in_itself = false;    // true: an outer call of the function is also open, perhaps in the interrupted task
  bool is_inside_itself = false;  // true: a call that surrounds this call is also a call of the function (recursion)
  std::uint64_t began_ns = 0;
  std::uint32_t frame = 0;  // frame address in the event; 0 if the event has none
  // The interrupt_level() of the surrounding code. It excludes the level that the function itself adds.
  std::uint8_t context = 0;
  bool on_softirq = false;      // the call is in a softirq, or in an interrupt that interrupted a softirq
  bool counts_hardirq = false;  // true: the function itself adds a hardirq to the preempt count
  std::optional<std::uint64_t> lost_before_ns;  // time of the last event before the first loss during the call

  // Only CallGraph uses the members below.
  std::uint32_t node = 0;        // number of the call's node in CallGraph
  std::uint8_t shown_level = 0;  // nesting level among the selected calls
  bool selected = false;
  bool may_be_shown = false;
  std::size_t slot = ~std::size_t{0};  // slot in ShownCalls
  std::uint64_t inner_ns = 0;          // time in callees and interrupts
  std::uint64_t recursive_ns = 0;      // time in inner calls of the same function
  InsideSums inside;
};

// Returns the time from one event to a later event. Returns 0 if time goes backwards in a damaged trace.
constexpr std::uint64_t time_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

struct TaskCalls {
  std::vector<OpenCall> calls;  // innermost call last; depths increase
  std::uint64_t last_ns = 0;    // time and CPU of the task's last event
  std::uint16_t last_cpu = 0;
  bool unsure = false;  // events were lost; the task's position is unknown until its next call starts or ends

  // Returns nullptr if no call is open.
  OpenCall* innermost() { return calls.empty() ? nullptr : &calls.back(); }
  // Returns the innermost call if the event happens directly in this call. Returns nullptr if the event is in an
  // interrupt on top of all calls, or if the innermost call is unknown because events were lost.
  OpenCall* around(const Event& event);
};

// Finds lost events by CPU.
class Losses {
 public:
  explicit Losses(const TraceInfo& info) : info_(info) {}
  // Returns the start of a CPU's first loss that overlaps this interval and starts before its end.
  std::optional<std::uint64_t> first_between(std::uint16_t cpu, std::uint64_t from_ns, std::uint64_t to_ns);

 private:
  const TraceInfo& info_;
  std::size_t known_ = 0;
  std::vector<std::vector<std::size_t>> by_cpu_;  // by CPU: indices into TraceLosses::intervals, in ascending order
};

// Follows the calls of all tasks. Memory use depends on the number of open calls.
class CallStacks {
 public:
  // Called for each call that ends and is removed from its task. `end` is nullptr if the end was not seen.
  using Ended = std::function<void(TaskCalls&, const OpenCall&, const CallEvent* end)>;

  CallStacks(const TraceInfo& info, Ended ended) : info_(info), losses_(info), ended_(std::move(ended)) {}

  // Returns the open calls in the task of an event, or nullptr if there are none. Valid until the next event.
  TaskCalls* at(const Event& event);
  // Adds a call that starts; it becomes the last call in the result. `level` is interrupt_level_of() for the function.
  TaskCalls& enter(const Event& event, std::uint32_t function, std::uint8_t level);
  // Ends a call. Returns false if its start is not in the trace; at() then returns the surrounding calls.
  bool leave(const Event& event, std::uint32_t function);
  // Call at the end of the trace: ends all open calls without an end event.
  void finish();

  // Returns the index in tasks_ of the last event's task. The index is valid while the task has open calls. call_of()
  // finds an open call of that task.
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
  std::vector<std::uint32_t> free_;  // indices of unused elements of tasks_
  FlatMap<std::uint32_t> places_;    // index in tasks_ of each task that has open calls
  std::uint32_t place_ = 0;
};

}  // namespace kmt
