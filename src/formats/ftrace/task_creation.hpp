// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the thread group of a new task in task_newtask (include/trace/events/task.h, Linux 3.4 to 6.18). With
// CLONE_THREAD, the new task joins the thread group of its creator, which is the task that caused the event. Otherwise
// the new task gets its own group.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Field offsets of task_newtask.
struct TaskCreation {
  std::uint32_t parent = 0;  // offset in bytes; parent and pid have 4 bytes each
  std::uint32_t pid = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // size of the field clone_flags: 4 or 8
};

// Returns the offsets if the format is task_newtask. Raises `least_bytes` to cover all fields.
std::optional<TaskCreation> task_creation(const EventFormat& format, std::uint32_t& least_bytes);

// Fills in TraceTasks::thread_groups. Records of different CPUs may come in any order of time. If several tasks had the
// same ID, the entry of the latest task is kept. Entries from these events also replace entries from the lists that
// recorders make at the start and at the end.
class ThreadGroups {
 public:
  explicit ThreadGroups(TraceInfo& info) : groups_(info.tasks.thread_groups) {}
  // Reads the creation of a task from a record, which must have at least `least_bytes` bytes.
  void learn(const TaskCreation& creation, Bytes record, ByteOrder order, std::uint64_t time_ns);

 private:
  std::unordered_map<std::int32_t, std::int32_t>& groups_;
  std::unordered_map<std::int32_t, std::uint64_t> seen_ns_;  // time of the latest event per task
};

}  // namespace kmt
