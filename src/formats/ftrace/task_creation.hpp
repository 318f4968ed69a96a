// SPDX-License-Identifier: GPL-2.0-or-later
// Which thread group a new task belongs to, from task_newtask (include/trace/events/task.h, Linux 3.4 to 6.18): with
// CLONE_THREAD that of the task that made it, in whose context the event is, else one of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Where the fields of a task_newtask are.
struct TaskCreation {
  std::uint32_t parent = 0;  // 4 bytes, as pid
  std::uint32_t pid = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // 4 or 8
};

// Empty for every other event. All fields lie within `least_bytes` afterwards.
std::optional<TaskCreation> task_creation(const EventFormat& format, std::uint32_t& least_bytes);

// Writes into TraceTasks::thread_groups. Records of different CPUs may come in any order of time: of equal ids the
// latest task counts, and more than what was known when the recording began or ended.
class ThreadGroups {
 public:
  explicit ThreadGroups(TraceInfo& info) : groups_(info.tasks.thread_groups) {}
  // The record has at least `least_bytes`.
  void learn(const TaskCreation& creation, Bytes record, ByteOrder order, std::uint64_t time_ns);

 private:
  std::unordered_map<std::int32_t, std::int32_t>& groups_;
  std::unordered_map<std::int32_t, std::uint64_t> told_at_;  // when events told of a task
};

}  // namespace kmt
