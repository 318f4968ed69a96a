// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/processes.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trace/tasks/cgroup_name.hpp"

namespace kmt {

namespace {

// Maximum number of steps to an ancestor. Parents in forged traces may form circles or endless chains.
constexpr unsigned kMostAncestors = 1024;
constexpr std::int32_t kKthreadd = 2;
constexpr std::uint64_t kFirstPidSpace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, include/linux/proc_ns.h

const KnownProcess* known(const TraceTasks& tasks, Process process) {
  if (process.life == nullptr && tasks.lives.noted_at_start()) {
    if (const KnownProcess* const then = tasks.lives.known_at_begin(process.pid)) return then;
  }
  // If several tasks used the ID, the kernel's files may describe any of them.
  return tasks.lives.is_used_again(process.pid) ? nullptr : tasks.lives.known_later(process.pid);
}

std::uint64_t born_ns(Process process) { return process.life == nullptr ? 0 : process.life->born_ns; }

// Returns the parent process; its pid is 0 if it is unknown.
Process parent_of(const TraceTasks& tasks, Process process) {
  if (process.life != nullptr) return process_at(tasks, process.life->creator, process.life->born_ns);
  const KnownProcess* const then = known(tasks, process);
  return then == nullptr ? Process{} : Process{then->parent, nullptr};
}

}  // namespace

Process process_at(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns) {
  Process process{tid, tasks.lives.life_at(tid, time_ns)};
  for (unsigned steps = 0; steps < kMostAncestors && process.life != nullptr && process.life->is_thread; ++steps) {
    const std::int32_t creator = process.life->creator;
    process = {creator, tasks.lives.life_at(creator, process.life->born_ns)};
  }
  if (process.life != nullptr && process.life->knows_kind) return process;
  // The kernel's files list the process of each living task. If several tasks used the ID, the entry may belong to
  // another task.
  if (process.life != nullptr && tasks.lives.is_used_again(process.pid)) return process;
  // A task from before the trace must not be confused with a later task that has its ID.
  const KnownProcess* const then = process.life == nullptr ? tasks.lives.known_at_begin(process.pid) : nullptr;
  if (then != nullptr) return {then->group, nullptr};
  const std::int32_t group = thread_group(tasks, process.pid).value_or(process.pid);
  return group == process.pid ? process : Process{group, tasks.lives.life_at(group, time_ns)};
}

Process oldest_ancestor(const TraceTasks& tasks, Process process) {
  for (unsigned steps = 0; steps < kMostAncestors && process.life != nullptr; ++steps) {
    const Process parent = parent_of(tasks, process);
    if (parent.pid == 0) break;
    process = parent;
  }
  return process;
}

std::string cgroup_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns) {
  // A child starts in the cgroup of its parent.
  for (unsigned steps = 0; steps < kMostAncestors && process.pid != 0; ++steps) {
    if (const auto path = tasks.lives.moved_to(process.pid, born_ns(process), time_ns); !path.empty())
      return std::string(path);
    if (const KnownProcess* const then = known(tasks, process); then != nullptr && !then->cgroup.empty())
      return then->cgroup;
    if (process.life == nullptr) break;
    time_ns = process.life->born_ns;
    process = parent_of(tasks, process);
  }
  return {};
}

std::int32_t MadePidSpaces::first_process(const TraceTasks& tasks, const TaskLife& life) const {
  auto last = made_.lower_bound({life.creator, life.born_ns});
  if (last == made_.begin() || (--last)->first.first != life.creator) return 0;
  const std::uint64_t made_ns = last->first.second;
  First& first = last->second;
  if (!first.is_known) {
    const TaskLife* child = nullptr;
    const std::vector<TaskLife> births = tasks.lives.births();
    for (const TaskLife& birth : births)
      if (birth.creator == life.creator && birth.born_ns > made_ns && (!child || birth.born_ns < child->born_ns))
        child = &birth;
    first = {true, child == nullptr || child->begins_pid_space ? 0 : child->tid};
  }
  // If another task used the creator's ID in between, that other task created the namespace.
  return tasks.lives.life_at(life.creator, made_ns) == tasks.lives.life_at(life.creator, life.born_ns) ? first.pid : 0;
}

std::string container_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns, const MadePidSpaces& made) {
  const std::string path = cgroup_of(tasks, process, time_ns);
  if (std::string pod = pod_name_of_cgroup(path, tasks.pods); !pod.empty()) return pod;
  if (std::string container = container_of_cgroup(path); !container.empty()) return container;
  for (unsigned steps = 0; steps < kMostAncestors && process.pid != 0; ++steps) {
    if (process.life != nullptr && process.life->begins_pid_space) return fmt::format("[pid space of {}]", process.pid);
    if (const KnownProcess* const then = known(tasks, process); then != nullptr && then->pid_space != 0)
      return then->pid_space == kFirstPidSpace ? "[host]" : fmt::format("[pid space {}]", then->pid_space);
    if (process.life == nullptr) break;
    if (const std::int32_t first = made.first_process(tasks, *process.life); first != 0)
      return fmt::format("[pid space of {}]", first);
    process = parent_of(tasks, process);
  }
  return path.empty() ? std::string() : "[host]";
}

bool is_kernel_thread(const TraceTasks& tasks, Process process) {
  if (process.pid == kKthreadd) return true;
  return parent_of(tasks, process).pid == kKthreadd;
}

}  // namespace kmt
