// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/stacks.hpp"

#include <algorithm>
#include <limits>

#include "trace/code/interrupt_functions.hpp"

namespace kmt {

namespace {

// Returns a key for the task of an event. The key includes the CPU for idle tasks, which share one thread ID, and for
// unknown tasks, which have negative IDs.
std::uint64_t task_key(const Event& event) {
  if (event.tid > 0) return static_cast<std::uint32_t>(event.tid);
  return std::uint64_t{event.tid == 0 ? 1U : 2U} << 32 | event.cpu;
}

// True if the call that ends is not this open call: events were lost after the open call started, and the call that
// ends started after the loss. If the measured duration excludes time asleep, a call that slept seems to start later.
// The graph may then show this call in two parts. If the event has a frame address instead of a depth, the result is
// true after every loss, because another call of the function may have used the same frame.
bool began_after_loss(const OpenCall& call, const CallEvent& end, const TraceInfo& info) {
  if (end.has(CallFlags::kFrame)) return call.lost_before_ns.has_value();
  // Allowed difference between the measured duration and the times of the records, in nanoseconds.
  constexpr std::uint64_t kSlackNs = 10'000;
  const auto duration = measured_duration(end);
  return call.lost_before_ns && duration && info.clock.in_ns && *duration <= end.time_ns &&
         end.time_ns - *duration > *call.lost_before_ns + kSlackNs;
}

// Sets the recursion flags of a new call: searches the open calls for its function.
void find_outer(const std::vector<OpenCall>& calls, OpenCall& call) {
  bool inside = !call.on_top;
  for (auto below = calls.rbegin(); below != calls.rend(); ++below) {
    if (below->function == call.function) {
      call.runs_in_itself = true;
      call.is_inside_itself = call.is_inside_itself || inside;
    }
    inside = inside && !below->on_top;
  }
}

// Marks the task's open calls: events were lost while they ran.
void touch(TaskCalls& task, std::uint64_t before_ns) {
  task.unsure = true;
  for (OpenCall& call : task.calls)
    if (!call.lost_before_ns) call.lost_before_ns = std::max(before_ns, call.began_ns);
}

// True if both addresses are in the same 16 KiB, and so on the same stack: stacks of tasks and interrupts are aligned
// to their size, which is at least 16 KiB on 64-bit machines.
bool on_one_stack(std::uint32_t a, std::uint32_t b) { return (a ^ b) >> 14 == 0; }

// Returns the interrupt_level() of the code around a call that starts or ends. Some functions add a hardirq to the
// preempt count themselves: their start event precedes the increment, and their end event follows the decrement.
std::uint8_t level_around(Event event, bool counts_hardirq) {
  if (counts_hardirq) event.context &= static_cast<std::uint8_t>(~Context::kHardIrq);
  return interrupt_level(event);
}

bool is_on_softirq(const Event& event) { return (event.context & Context::kSoftIrq) != 0; }

// True if the event is in an interrupt that interrupted the call. Its level is then higher, with one exception:
// softirqs run at the end of a hard interrupt (irq_exit_rcu()), and another hard interrupt may interrupt them.
bool is_on_top_of(const Event& event, std::uint8_t level, const OpenCall& call) {
  return level > call.level || (level == kHardIrqLevel && is_on_softirq(event) && !call.on_softirq);
}

// True if `call` must have ended before `entry` although no end was recorded. Stacks grow down, so an inner call has a
// lower frame. Two calls have the same frame only if the first ended with a tail call to the second.
bool is_over(const OpenCall& call, const CallEvent& entry, std::uint32_t function, std::uint8_t context) {
  if (context != call.context) return context < call.context;
  if (!on_one_stack(entry.frame, call.frame)) return false;
  return entry.frame > call.frame || (entry.frame == call.frame && function == call.function);
}

std::uint8_t depth_in(const std::vector<OpenCall>& calls, const CallEvent& entry, std::uint32_t function,
                      std::uint8_t context) {
  if (!entry.has(CallFlags::kFrame)) return entry.depth;
  auto around = calls.rbegin();
  while (around != calls.rend() && is_over(*around, entry, function, context)) ++around;
  if (around == calls.rend()) return 0;
  return around->depth < kMostCallDepth ? static_cast<std::uint8_t>(around->depth + 1) : kMostCallDepth;
}

// Returns the depth of the call that ends, or empty if its start was not seen.
std::optional<std::uint8_t> depth_of_ending(const std::vector<OpenCall>& calls, const CallEvent& exit,
                                            std::uint32_t function) {
  if (!exit.has(CallFlags::kFrame)) return exit.depth;
  // Maximum difference in bytes between the frame addresses at entry and exit. They differ on x86, where the return
  // address has already been popped at the exit.
  constexpr std::uint32_t kReturnBytes = 16;
  const auto ends = std::find_if(calls.rbegin(), calls.rend(), [&](const OpenCall& call) {
    return call.function == function && call.context == level_around(as_event(exit), call.counts_hardirq) &&
           exit.frame - call.frame <= kReturnBytes;
  });
  return ends == calls.rend() ? std::nullopt : std::optional(ends->depth);
}

}  // namespace

std::optional<std::uint64_t> measured_duration(const CallEvent& end) {
  if (!end.has(CallFlags::kDuration)) return {};
  return end.duration_ns;
}

OpenCall* TaskCalls::around(const Event& event) {
  if (calls.empty() || unsure) return nullptr;
  OpenCall& top = calls.back();
  const std::uint8_t level = interrupt_level(event);
  const bool fits = level == 0 ? top.level == 0 : !is_on_top_of(event, level, top);
  return fits ? &top : nullptr;
}

std::optional<std::uint64_t> Losses::first_between(std::uint16_t cpu, std::uint64_t from_ns, std::uint64_t to_ns) {
  for (; known_ < info_.losses.intervals.size(); ++known_) {
    const unsigned of = info_.losses.intervals[known_].cpu;
    if (of > std::numeric_limits<std::uint16_t>::max()) continue;  // the CPU number of an event has only 16 bits
    if (by_cpu_.size() <= of) by_cpu_.resize(of + std::size_t{1});
    by_cpu_[of].push_back(known_);
  }
  if (cpu >= by_cpu_.size()) return {};
  const std::vector<std::size_t>& losses = by_cpu_[cpu];
  // after_ns is 0 while the end of the loss is unknown, and stays 0 if the trace ends with the loss
  const auto is_over = [&](std::size_t loss) {
    return info_.losses.intervals[loss].after_ns != 0 && info_.losses.intervals[loss].after_ns <= from_ns;
  };
  const auto first = std::ranges::partition_point(losses, is_over);
  if (first == losses.end() || info_.losses.intervals[*first].before_ns >= to_ns) return {};
  return info_.losses.intervals[*first].before_ns;
}

TaskCalls* CallStacks::find(const Event& event) {
  const std::uint32_t* const place = places_.find(task_key(event));
  if (place == nullptr) return nullptr;
  place_ = *place;
  return &tasks_[place_];
}

// True if the thread ID now belongs to another task than the open calls, which then never returned.
bool CallStacks::is_another(const TaskCalls& task, const Event& event) const {
  // Shortest time in which a task can end and another task with its ID can start.
  constexpr std::uint64_t kSoonestNs = 50'000;
  return event.tid != 0 && event.time_ns > task.last_ns + kSoonestNs &&
         info_.tasks.lives.life_at(event.tid, task.last_ns) != info_.tasks.lives.life_at(event.tid, event.time_ns);
}

// Records the time and CPU of the task's latest event. If events were lost since the previous event on a CPU where the
// task may have run, marks the task's open calls.
void CallStacks::see(TaskCalls& task, const Event& event) {
  if (!task.calls.empty() && is_another(task, event)) close_from_depth(task, 0);
  if (!task.calls.empty()) {
    for (const std::uint16_t cpu : {task.last_cpu, event.cpu})
      if (const auto before = losses_.first_between(cpu, task.last_ns, event.time_ns)) touch(task, *before);
  }
  task.last_ns = event.time_ns;
  task.last_cpu = event.cpu;
}

TaskCalls* CallStacks::at(const Event& event) {
  TaskCalls* const task = find(event);
  if (task != nullptr) see(*task, event);
  return task;
}

TaskCalls& CallStacks::enter(const Event& event, std::uint32_t function, std::uint8_t level) {
  const auto [place, is_new] = places_.insert(task_key(event));
  if (is_new && free_.empty()) {
    *place = static_cast<std::uint32_t>(tasks_.size());
    tasks_.emplace_back();
  } else if (is_new) {
    *place = free_.back();
    free_.pop_back();
  }
  place_ = *place;
  TaskCalls& task = tasks_[place_];
  see(task, event);
  const bool counts_hardirq = level == kHardIrqLevel;
  const std::uint8_t context = level_around(event, counts_hardirq);
  const CallEvent entry = as_call(event);
  const std::uint8_t depth = depth_in(task.calls, entry, function, context);
  close_from_depth(task, depth);
  task.unsure = false;

  OpenCall call;
  const OpenCall* const below = task.innermost();
  call.function = function;
  call.depth = depth;
  call.frame = entry.frame;
  call.context = context;
  call.counts_hardirq = counts_hardirq;
  call.began_ns = event.time_ns;
  call.on_softirq = is_on_softirq(event);
  call.level = std::max(interrupt_level(event), level);
  call.on_top = below != nullptr ? is_on_top_of(event, call.level, *below) : call.level > 0;
  if (below != nullptr && below->level > 0) call.level = std::max(call.level, std::uint8_t{1});
  find_outer(task.calls, call);
  task.calls.push_back(call);
  return task;
}

bool CallStacks::leave(const Event& event, std::uint32_t function) {
  TaskCalls* const task = at(event);
  if (task == nullptr) return false;
  const CallEvent exit = as_call(event);
  const std::optional<std::uint8_t> ending = depth_of_ending(task->calls, exit, function);
  if (!ending) return false;
  const unsigned depth = *ending;
  close_from_depth(*task, depth + 1);
  task->unsure = false;
  const OpenCall* const top = task->innermost();
  const bool is_top =
      top != nullptr && top->depth == depth && top->function == function && !began_after_loss(*top, exit, info_);
  if (is_top)
    close(*task, &exit);
  else
    close_from_depth(*task, depth);
  if (task->calls.empty()) {
    places_.erase(task_key(event));
    free_.push_back(place_);
  }
  return is_top;
}

void CallStacks::close(TaskCalls& task, const CallEvent* end) {
  const OpenCall call = task.calls.back();
  task.calls.pop_back();
  ended_(task, call, end);
}

void CallStacks::close_from_depth(TaskCalls& task, unsigned depth) {
  while (!task.calls.empty() && task.calls.back().depth >= depth) close(task, nullptr);
}

void CallStacks::finish() {
  for (TaskCalls& task : tasks_) {
    if (!task.calls.empty())
      if (const auto before = losses_.first_between(task.last_cpu, task.last_ns, ~std::uint64_t{0}))
        touch(task, *before);
    close_from_depth(task, 0);
  }
}

OpenCall& CallStacks::call_of(std::uint32_t place, std::uint32_t node) {
  return *std::ranges::find(tasks_[place].calls, node, &OpenCall::node);
}

}  // namespace kmt
