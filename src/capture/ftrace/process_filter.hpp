// SPDX-License-Identifier: GPL-2.0-or-later
// Restricts an instance to some tasks and their children, in the kernel (set_event_pid, event-fork; for function calls
// set_ftrace_pid, function-fork).
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/tracefs/tracefs.hpp"

namespace kmt {

class ProcessFilter {
 public:
  // Selects these processes, and a cgroup with all cgroups below it: a folder of cgroupfs, or empty. `nobody` is an
  // idle task that stands for a cgroup without tasks. `calls`: select function calls too. Throws Error.
  ProcessFilter(const TracefsInstance& instance, const std::vector<pid_t>& pids, std::string cgroup, pid_t nobody,
                bool calls);

  // Looks for tasks that have entered the cgroup since: the kernel knows only those forked in it.
  void update();

 private:
  void follow(const std::set<pid_t>& threads, const std::set<pid_t>& known) const;

  std::vector<std::string> paths_;  // set_event_pid, set_ftrace_pid
  std::string cgroup_;
  std::set<pid_t> in_cgroup_;  // at the last update()
};

enum class CgroupVersions { all, second };
// Returns a cgroup's folder: an absolute path, or one below the mount point of the cgroup file system. Throws Error.
std::string find_cgroup(const std::string& name, CgroupVersions versions = CgroupVersions::all);

}  // namespace kmt
