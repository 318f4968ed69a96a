// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/name_history.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kmt {

void TaskNameHistory::called_since(std::int32_t tid, std::uint64_t time_ns, std::string_view name) {
  auto& of_task = names_[tid];
  const auto later = of_task.upper_bound(time_ns);
  // The name has not changed, as in most sched_switch events.
  if (later != of_task.begin() && std::prev(later)->second == name) return;
  of_task.insert_or_assign(later, time_ns, std::string(name));
}

void TaskNameHistory::called_before(std::int32_t tid, std::uint64_t time_ns, std::string_view name) {
  auto& of_task = names_[tid];
  if (of_task.upper_bound(time_ns) == of_task.begin()) of_task.emplace(0, name);
}

std::optional<std::string_view> TaskNameHistory::at(std::int32_t tid, std::uint64_t time_ns) const {
  const auto of_task = names_.find(tid);
  if (of_task == names_.end()) return std::nullopt;
  const auto later = of_task->second.upper_bound(time_ns);
  if (later == of_task->second.begin()) return std::nullopt;
  return std::prev(later)->second;
}

std::uint64_t TaskNameHistory::next_change_ns(std::int32_t tid, std::uint64_t time_ns) const {
  constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();
  const auto of_task = names_.find(tid);
  if (of_task == names_.end()) return kNever;
  const auto later = of_task->second.upper_bound(time_ns);
  return later == of_task->second.end() ? kNever : later->first;
}

std::vector<TaskRename> TaskNameHistory::renamed() const {
  std::vector<TaskRename> names;
  for (const auto& [tid, of_task] : names_)
    if (of_task.size() > 1)
      for (const auto& [time_ns, name] : of_task) names.push_back({tid, time_ns, name});
  std::ranges::sort(names, {}, [](const TaskRename& name) { return std::pair(name.tid, name.time_ns); });
  return names;
}

}  // namespace kmt
