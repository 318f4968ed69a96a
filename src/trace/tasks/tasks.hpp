// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of a trace: their names, processes and lifetimes. The data grows while events are read.
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
  std::unordered_map<std::int32_t, std::int32_t> thread_groups;  // by task ID; use thread_group() to look it up
  TaskLives lives;                                               // from events; see processes.hpp
};

// Returns the task's name at this time according to events, otherwise its last name. Returns "<idle>" for task 0, and
// "<...>" if unknown.
std::string_view task_name(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);

// Returns the process that a task belongs to (its tgid); empty if the trace does not contain it. If IDs were reused,
// the latest known process is used for the whole trace.
std::optional<std::int32_t> thread_group(const TraceTasks& tasks, std::int32_t tid);

}  // namespace kmt
