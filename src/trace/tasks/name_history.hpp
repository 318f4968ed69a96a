// SPDX-License-Identifier: GPL-2.0-or-later
// Names of tasks over time: a program renames its task, and ids are reused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kmt {

// From then on.
struct TaskRename {
  std::int32_t tid = 0;
  std::uint64_t time_ns = 0;
  std::string_view name;
};

class TaskNameHistory {
 public:
  // In any order of time: CPUs are read one after the other.
  void called_since(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // A name that was in use before this time. Earlier names are unknown.
  void called_before(std::int32_t tid, std::uint64_t time_ns, std::string_view name);
  // Empty: the trace does not say.
  std::optional<std::string_view> at(std::int32_t tid, std::uint64_t time_ns) const;
  std::vector<TaskRename> renamed() const;  // of tasks with several names, by task and time

 private:
  std::unordered_map<std::int32_t, std::map<std::uint64_t, std::string>> names_;  // by time from which
};

}  // namespace kmt
