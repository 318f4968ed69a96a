// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of a trace: their names, processes and lives. They grow while events are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/tasks/lives.hpp"
#include "trace/tasks/name_history.hpp"

namespace kmt {

struct TraceTasks {
  std::unordered_map<std::int32_t, std::string> comms;           // last name of each task
  TaskNameHistory names;                                         // from events
  std::unordered_map<std::int32_t, std::int32_t> thread_groups;  // by task id: ask thread_group()
  TaskLives lives;                                               // from events: ask processes.hpp
};

// The task's name at that time from events, else its last name; "<idle>" for task 0, "<...>" if unknown.
std::string_view task_name(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);

// The process that a task belongs to (its tgid); empty: the trace does not say. The kernel reuses ids: the latest known
// process counts, for the whole trace.
std::optional<std::int32_t> thread_group(const TraceTasks& tasks, std::int32_t tid);

}  // namespace kmt
