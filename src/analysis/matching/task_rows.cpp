// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/task_rows.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/matching/event_filter.hpp"
#include "analysis/matching/own_interrupt.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostEarlierNames = 4;  // maximum number of earlier names of a process

}  // namespace

void TaskRows::begin_batch() {
  for (RecentRows& rows : recent_) rows.fill({});
  in_batches_ = true;
}

std::uint32_t TaskRows::row_of(GroupKey key, const Event& event) {
  if (!in_batches_ || interrupt_of(event) != nullptr) return find_row(key, event);
  const auto index = static_cast<std::size_t>(std::ranges::find(kKeys, key) - kKeys.begin());
  Recent& recent = recent_[index][static_cast<std::uint32_t>(event.tid) % std::tuple_size_v<RecentRows>];
  const bool is_known = recent.tid == event.tid && event.time_ns >= recent.from_ns && event.time_ns < recent.until_ns;
  if (!is_known) recent = {event.time_ns, unchanged_until_ns(key, event), event.tid, find_row(key, event)};
  return recent.row;
}

// Returns the time until which find_row() returns the same row for all events of this task outside interrupts.
std::uint64_t TaskRows::unchanged_until_ns(GroupKey key, const Event& event) const {
  std::uint64_t until_ns = kmt::unchanged_until_ns(trace_tasks_, event.tid, event.time_ns);
  if (key != GroupKey::process) return until_ns;
  Process process = process_at(trace_tasks_, event.tid, event.time_ns);
  until_ns = std::min(until_ns, kmt::unchanged_until_ns(trace_tasks_, process.pid, event.time_ns));
  if (!tree_) return until_ns;
  process = oldest_ancestor(trace_tasks_, process);
  return std::min(until_ns, kmt::unchanged_until_ns(trace_tasks_, process.pid, event.time_ns));
}

std::uint32_t TaskRows::find_row(GroupKey key, const Event& event) {
  if (key == GroupKey::process) return process_row(event);
  if (key == GroupKey::comm) return task_row({event.tid, nullptr}, event, false);
  return task_row({event.tid, trace_tasks_.lives.life_at(event.tid, event.time_ns)}, event, true);
}

std::uint32_t TaskRows::task_row(Process task, const Event& event, bool with_id) {
  constexpr std::int64_t kNoId = std::int64_t{1} << 32;
  const char* const interrupt = interrupt_of(event);
  const std::string_view comm = interrupt != nullptr ? interrupt : task_name(trace_tasks_, task.pid, event.time_ns);
  const bool has_id = with_id && interrupt == nullptr;
  const auto [recent, is_first] = known_tasks_[has_id ? 1 : 0].insert(static_cast<std::uint32_t>(task.pid));
  if (!is_first && recent->comm == comm.data() && recent->life == task.life) return recent->row;
  const auto [known, is_new] =
      task_rows_.try_emplace({std::string(comm), has_id ? task.pid : kNoId, has_id ? task.life : nullptr},
                             static_cast<std::uint32_t>(names_.size()));
  if (is_new) {
    TaskName& name = names_.emplace_back(TaskName{{}, std::string(comm)});
    if (has_id) name.id = task.pid;
    if (has_id && trace_tasks_.lives.is_used_again(task.pid))
      name.born_ns = task.life == nullptr ? 0 : task.life->born_ns;
  }
  *recent = {comm.data(), task.life, known->second};
  return known->second;
}

// Returns the row of the process of an event. A process is identified by its ID and start time, because names change
// and IDs are reused.
std::uint32_t TaskRows::process_row(const Event& event) {
  if (interrupt_of(event) != nullptr) return task_row({}, event, false);
  Process process = process_at(trace_tasks_, event.tid, event.time_ns);
  if (tree_) process = oldest_ancestor(trace_tasks_, process);
  std::uint64_t named_ns = event.time_ns;
  // The ancestor may have ended, and a later process may have its ID. So use the name that the ancestor had when it
  // ended.
  if (tree_) named_ns = std::min(named_ns, trace_tasks_.lives.next_birth_ns(process.pid, process.life) - 1);
  const std::string_view comm = task_name(trace_tasks_, process.pid, named_ns);
  const auto [recent, is_first] = known_processes_.insert(static_cast<std::uint32_t>(process.pid));
  if (!is_first && recent->comm == comm.data() && recent->life == process.life) return recent->row;
  const auto [known, is_new] =
      process_rows_.try_emplace({process.pid, process.life}, static_cast<std::uint32_t>(names_.size()));
  if (is_new) {
    TaskName& name = names_.emplace_back(TaskName{process.pid, std::string(comm)});
    if (trace_tasks_.lives.is_used_again(process.pid))
      name.born_ns = process.life == nullptr ? 0 : process.life->born_ns;
  } else if (TaskName& name = names_[known->second]; name.comm != comm) {
    std::vector<std::string>& earlier = name.earlier;
    if (earlier.size() < kMostEarlierNames && std::ranges::find(earlier, name.comm) == earlier.end())
      earlier.push_back(name.comm);
    std::erase(earlier, comm);
    name.comm = comm;
  }
  *recent = {comm.data(), process.life, known->second};
  return known->second;
}

const char* TaskRows::interrupt_of(const Event& event) {
  const char* const interrupt = with_interrupted_ ? nullptr : interrupt_name(event);
  return interrupt == nullptr || is_for_task(event) ? nullptr : interrupt;
}

bool TaskRows::is_for_task(const Event& in_interrupt) {
  const bool by_stack = !info_.tables.stacks[in_interrupt.stack].empty();
  const std::uint32_t number = by_stack ? in_interrupt.stack.value : in_interrupt.call_site.value;
  std::vector<std::uint8_t>& all = is_for_task_[by_stack ? 1 : 0];
  if (all.size() <= number) all.resize(by_stack ? info_.tables.stacks.size() : info_.tables.call_sites.size());
  std::uint8_t& known = all[number];
  if (known == 0) {
    const std::span<const std::uint64_t> frames =
        by_stack ? std::span(info_.tables.stacks[in_interrupt.stack]) : std::span(&info_.tables.call_sites[number], 1);
    known = is_for_interrupted_task(frames, symbols_) ? 2 : 1;
  }
  return known == 2;
}

}  // namespace kmt
