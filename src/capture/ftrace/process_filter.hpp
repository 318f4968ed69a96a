// SPDX-License-Identifier: GPL-2.0-or-later
// Restricts an instance to some tasks and what they fork, in the kernel (set_event_pid, event-fork; for calls of
// functions set_ftrace_pid, function-fork).
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/tracefs/tracefs.hpp"

namespace kmt {

class ProcessFilter {
 public:
  // Of these processes, and of a cgroup with all cgroups below it: a folder of cgroupfs, or empty. `nobody` is a task
  // that does nothing: it stands for a cgroup that has no task yet. `calls`: of calls of functions too. Throws Error.
  ProcessFilter(const TracefsInstance& instance, const std::vector<pid_t>& pids, std::string cgroup, pid_t nobody,
                bool calls);

  // Looks for tasks that have entered the cgroup since: the kernel knows only those that are forked in it.
  void update();

 private:
  void follow(const std::set<pid_t>& threads, const std::set<pid_t>& known) const;

  std::vector<std::string> paths_;  // set_event_pid, set_ftrace_pid
  std::string cgroup_;
  std::set<pid_t> in_cgroup_;  // when update() looked last
};

enum class CgroupVersions { all, second };
// The folder of a cgroup: an absolute path, or one below the place where the cgroup file system is mounted. Throws
// Error.
std::string find_cgroup(const std::string& name, CgroupVersions versions = CgroupVersions::all);

}  // namespace kmt
