// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of a trace: their names, processes and lifetimes. Reading events adds to this data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/tasks/lives.hpp"
#include "trace/tasks/name_history.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

struct TraceTasks {
  std::unordered_map<std::int32_t, std::string> comms;  // by task ID: the last name of the task
  TaskNameHistory names;                                // names that events report
  // By task ID: ID of the task's process. Use thread_group() to look it up.
  std::unordered_map<std::int32_t, std::int32_t> thread_groups;
  PodNames pods;    // names of Kubernetes pods
  TaskLives lives;  // when tasks were created, or moved to another cgroup
};

// Returns the name of a task at a time, as events show it. If they do not show it, returns the task's last name.
// Returns "<idle>" for task 0, and "<...>" if the name is unknown.
std::string_view task_name(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);

// Returns the time until which task_name() and TaskLives::life_at() return the same values for a task as at `time_ns`.
std::uint64_t unchanged_until_ns(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);

// Returns the ID of the process (tgid) that a task belongs to; empty if the trace does not contain it. If the task ID
// belonged to several processes, the last known process is used for the whole trace.
std::optional<std::int32_t> thread_group(const TraceTasks& tasks, std::int32_t tid);

}  // namespace kmt
