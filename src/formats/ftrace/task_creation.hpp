// SPDX-License-Identifier: GPL-2.0-or-later
// The thread group of a new task, from task_newtask (include/trace/events/task.h, Linux 3.4 to 6.18). With CLONE_THREAD
// it is that of the event's task, the creator; otherwise a new one.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// The offsets of a task_newtask's fields.
struct TaskCreation {
  std::uint32_t parent = 0;  // 4 bytes, as pid
  std::uint32_t pid = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // 4 or 8
};

// Empty for every other event. `least_bytes` grows to cover all fields.
std::optional<TaskCreation> task_creation(const EventFormat& format, std::uint32_t& least_bytes);

// Writes TraceTasks::thread_groups. CPUs' records may come in any time order: of tasks with one ID the latest counts,
// and outranks the lists of the recording's start and end.
class ThreadGroups {
 public:
  explicit ThreadGroups(TraceInfo& info) : groups_(info.tasks.thread_groups) {}
  // The record has at least `least_bytes`.
  void learn(const TaskCreation& creation, Bytes record, ByteOrder order, std::uint64_t time_ns);

 private:
  std::unordered_map<std::int32_t, std::int32_t>& groups_;
  std::unordered_map<std::int32_t, std::uint64_t> told_at_;  // time of the latest event of a task
};

}  // namespace kmt
