// SPDX-License-Identifier: GPL-2.0-or-later
// The names of tasks over time. Tasks may be renamed, and the kernel reuses IDs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kmt {

// The task has this name from `time_ns` on.
struct TaskRename {
  std::int32_t tid = 0;
  std::uint64_t time_ns = 0;
  std::string_view name;
};

class TaskNameHistory {
 public:
  // Adds a name that a task has from `time_ns` on. Names may be added out of time order, because CPUs are read one
  // after the other.
  void called_since(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // Adds a name that a task had until this time. Earlier names of the task are unknown.
  void called_before(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // Returns the name that a task had at a time; empty if the trace does not contain it.
  std::optional<std::string_view> at(std::int32_t tid, std::uint64_t time_ns) const;
  // Returns the time of the task's next name after `time_ns`; the largest number if there is none.
  std::uint64_t next_change_ns(std::int32_t tid, std::uint64_t time_ns) const;
  std::vector<TaskRename> renamed() const;  // returns tasks with several names, sorted by task and time

 private:
  // By task: its names, sorted by the time of their first use.
  std::unordered_map<std::int32_t, std::map<std::uint64_t, std::string>> names_;
};

}  // namespace kmt
