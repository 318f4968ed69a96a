// SPDX-License-Identifier: GPL-2.0-or-later
// Names of tasks over time. Programs may rename their tasks, and IDs are reused.
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
  // May be called in any order of time, because CPUs are read one after the other.
  void called_since(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // Adds a name that was in use until this time. Earlier names are unknown.
  void called_before(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // Returns empty if the trace does not contain the name.
  std::optional<std::string_view> at(std::int32_t tid, std::uint64_t time_ns) const;
  std::vector<TaskRename> renamed() const;  // only tasks with several names; sorted by task and time

 private:
  // By task and the time since which the name is in use.
  std::unordered_map<std::int32_t, std::map<std::uint64_t, std::string>> names_;
};

}  // namespace kmt
