// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the process of a task, its parent process, and its cgroup or container.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/tasks/tasks.hpp"

namespace kmt {

struct Process {
  std::int32_t pid = 0;
  const TaskLife* life = nullptr;  // null: born before the trace, or birth not recorded
};

// PID namespaces that tasks created, derived from their allocations. unshare(2) creates a PID namespace without
// changing the task itself, so no other event reports it.
class MadePidSpaces {
 public:
  void made(std::int32_t tid, std::uint64_t time_ns) { made_.try_emplace({tid, time_ns}); }
  // Returns the first process of the PID namespace in which this life began, if its creator made that namespace with
  // unshare(2). Otherwise returns 0.
  std::int32_t first_process(const TraceTasks& tasks, const TaskLife& life) const;

 private:
  // The first process in the namespace; 0 if it was created by clone(2). Computed on demand.
  struct First {
    bool is_known = false;
    std::int32_t pid = 0;
  };
  mutable std::map<std::pair<std::int32_t, std::uint64_t>, First> made_;  // by task and time
};

Process process_at(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);
// Returns the oldest ancestor whose birth is not in the trace: it was alive when the trace began. Returns the process
// itself if it was alive then, or if its parent is unknown.
Process oldest_ancestor(const TraceTasks& tasks, Process process);
// Returns the path of its version 2 cgroup; empty if the trace does not contain it.
std::string cgroup_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns);
// Returns the container, as identified by the cgroup names of Docker, Podman, containerd, CRI-O, LXC and
// systemd-nspawn: "docker 0123456789ab". Without such a name, returns the PID namespace: "[pid space 4026532256]", or
// "[pid space of 812]" with its first process. Returns "[host]" for the first namespace, and an empty string if the
// trace lacks this information.
std::string container_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns,
                         const MadePidSpaces& made = {});
// Returns the container's name in a cgroup path; empty if there is none.
std::string container_of_cgroup(std::string_view path);
bool is_kernel_thread(const TraceTasks& tasks, Process process);

}  // namespace kmt
