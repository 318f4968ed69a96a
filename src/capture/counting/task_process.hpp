// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the processes of tasks, for back ends whose events have only the IDs of tasks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace kmt {

struct TaskProcess {
  std::uint32_t id = 0;
  std::string comm;
};

class TaskProcesses {
 public:
  // Forgets the processes of the last interval, because tasks end and change their names.
  void begin_interval() { known_.clear(); }
  // Reads the process from /proc. If the task has ended, returns the task itself, with the name `comm`.
  TaskProcess of(pid_t task, std::string_view comm);

 private:
  std::map<pid_t, TaskProcess> known_;
};

// Returns a name for caches that events of the kernel do not name.
std::string unnamed_cache(std::uint64_t object_bytes);

}  // namespace kmt
