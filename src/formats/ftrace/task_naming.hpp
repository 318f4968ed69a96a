// SPDX-License-Identifier: GPL-2.0-or-later
// Events that tell what a task is called, and since when: task_newtask, task_rename, sched_switch, sched_process_exec,
// sched_process_fork (include/trace/events/task.h and sched.h, Linux 3.4 to 6.18), and what LTTng tells of each task
// when its tracing begins.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// One name that a record tells.
struct TaskNaming {
  enum class Kind : std::uint8_t {
    from_now,  // a name
    until_now,
    path_from_now,  // the path of a program, whose last part is the name
  };
  Kind kind = Kind::from_now;
  std::uint32_t pid = 0;   // where the task's id is, 4 bytes
  std::uint32_t name = 0;  // where the name is
  std::uint32_t size = 0;  // bytes of it; 0: a __data_loc is there
};

// What the event tells; nothing for most. Everything lies within `least_bytes` afterwards.
std::vector<TaskNaming> task_namings(const EventFormat& format, std::uint32_t& least_bytes);

// The record has at least `least_bytes`.
void learn_task_names(const std::vector<TaskNaming>& namings, Bytes record, ByteOrder order, std::uint64_t time_ns,
                      TaskNameHistory& names);

}  // namespace kmt
