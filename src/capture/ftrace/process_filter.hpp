// SPDX-License-Identifier: GPL-2.0-or-later
// Restricts an instance to some tasks and their children. The kernel does the selection (set_event_pid and event-fork;
// for function calls set_ftrace_pid and function-fork).
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/tracefs/tracefs.hpp"

namespace kmt {

class ProcessFilter {
 public:
  // Selects these processes, and a cgroup with all cgroups below it. `cgroup` is a folder of cgroupfs, or empty.
  // `idle_task` is the ID of an idle task, which is selected instead of an empty cgroup. `calls` selects function calls
  // as well. Throws Error.
  ProcessFilter(const TracefsInstance& instance, const std::vector<pid_t>& pids, std::string cgroup, pid_t idle_task,
                bool calls);

  // Adds tasks that have moved into the cgroup since the last call, because the kernel adds only tasks that are forked
  // in the cgroup.
  void update();

 private:
  void follow(const std::set<pid_t>& threads, const std::set<pid_t>& known) const;

  std::vector<std::string> paths_;  // the files to write: set_event_pid, and set_ftrace_pid if calls are selected
  std::string cgroup_;
  std::set<pid_t> in_cgroup_;  // threads found by the last update()
};

enum class CgroupVersions { all, second };
// Returns the folder of a cgroup. `name` is an absolute path, or a path below the mount point of the cgroup file
// system. Throws Error.
std::string find_cgroup(const std::string& name, CgroupVersions versions = CgroupVersions::all);

}  // namespace kmt
