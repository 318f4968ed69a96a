// SPDX-License-Identifier: GPL-2.0-or-later
// Names of tasks and their start times, from task_newtask, task_rename, sched_switch, sched_process_exec and
// sched_process_fork (include/trace/events/task.h and sched.h, Linux 3.4 to 6.18), and from LTTng's list at its start.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// One name in a record.
struct TaskNaming {
  enum class Kind : std::uint8_t {
    from_now,  // a name
    until_now,
    path_from_now,  // the path of a program, whose last part is the name
  };
  Kind kind = Kind::from_now;
  std::uint32_t pid = 0;   // offset of the task's ID, 4 bytes
  std::uint32_t name = 0;  // offset of the name
  std::uint32_t size = 0;  // bytes of the name; 0: it is a __data_loc
};

// Returns the names in an event; most have none. `least_bytes` grows to cover the fields.
std::vector<TaskNaming> task_namings(const EventFormat& format, std::uint32_t& least_bytes);

// The record has at least `least_bytes`.
void learn_task_names(const std::vector<TaskNaming>& namings, Bytes record, ByteOrder order, std::uint64_t time_ns,
                      TaskNameHistory& names);

}  // namespace kmt
