// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the names of tasks, with the times from which they apply, from the events task_newtask, task_rename,
// sched_switch, sched_process_exec and sched_process_fork (include/trace/events/task.h and sched.h, Linux 3.4 to 6.18),
// and the list that LTTng writes at its start.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// The position of a task name in a record.
struct TaskNaming {
  enum class Kind : std::uint8_t {
    from_now,  // a name
    until_now,
    path_from_now,  // path of a program; the last component is the name
  };
  Kind kind = Kind::from_now;
  std::uint32_t pid = 0;   // offset of the task's ID, which has 4 bytes
  std::uint32_t name = 0;  // offset of the name in the record, in bytes
  std::uint32_t size = 0;  // size of the name in bytes; 0 if the name is a __data_loc
};

// Returns the positions of task names in an event; most events have none. Raises `least_bytes` to the size of a record
// that has these fields.
std::vector<TaskNaming> task_namings(const EventFormat& format, std::uint32_t& least_bytes);

// Reads the names of tasks from a record, which must have at least `least_bytes` bytes.
void learn_task_names(const std::vector<TaskNaming>& namings, Bytes record, ByteOrder order, std::uint64_t time_ns,
                      TaskNameHistory& names);

}  // namespace kmt
