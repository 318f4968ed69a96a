// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the kernel prints about a cgroup that reached its limit (mem_cgroup_print_oom_meminfo() in
// mm/memcontrol.c). Formats of Linux 3.10 to 7.0.
#pragma once

#include <optional>
#include <string_view>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// True for the first lines about such a cgroup: "memory: usage 204800kB, limit 204800kB, failcnt 1", or before Linux
// 4.19 "Task in /a/b killed as a result of limit of /a".
bool begins_cgroup(std::string_view text);

// Reads the lines about the cgroup in one report.
class CgroupLines {
 public:
  explicit CgroupLines(std::optional<CgroupLimit>& cgroup) : cgroup_(cgroup) {}

  // Returns false if the line has nothing about the cgroup.
  bool take(std::string_view text);

 private:
  bool take_path(std::string_view text);
  bool take_usage(std::string_view text);
  bool take_statistics(std::string_view text);
  bool take_values(std::string_view text);

  CgroupLimit& cgroup() { return cgroup_ ? *cgroup_ : cgroup_.emplace(); }

  std::optional<CgroupLimit>& cgroup_;
  bool in_statistics_ = false;
};

}  // namespace kmt
