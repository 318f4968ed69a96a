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
  const TaskLife* life = nullptr;  // null: born before the trace, or the birth was not recorded
};

// PID namespaces that tasks created with unshare(2). No event reports them, because unshare(2) does not change the task
// itself. They are derived from the allocation that the kernel makes for a new namespace.
class MadePidSpaces {
 public:
  void made(std::int32_t tid, std::uint64_t time_ns) { made_.try_emplace({tid, time_ns}); }
  // Returns the first process of the PID namespace in which a task's life began. Returns 0 if the creator of the task
  // did not create this namespace with unshare(2).
  std::int32_t first_process(const TraceTasks& tasks, const TaskLife& life) const;

 private:
  // First process in the namespace, computed on first use. Its `pid` is 0 if clone(2) created the namespace.
  struct First {
    bool is_known = false;
    std::int32_t pid = 0;
  };
  mutable std::map<std::pair<std::int32_t, std::uint64_t>, First> made_;  // key: task and time
};

Process process_at(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);
// Returns the process itself if it was already alive when the trace began, otherwise its nearest ancestor that was. If
// this ancestor is unknown, returns the oldest one that the trace shows.
Process oldest_ancestor(const TraceTasks& tasks, Process process);
// Returns the path of the process's version 2 cgroup; empty if the trace does not contain it.
std::string cgroup_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns);
// Returns the container of a process. Cgroup names of Docker, Podman, containerd, CRI-O, LXC and systemd-nspawn
// identify it: "docker 0123456789ab". If the trace has the names of Kubernetes pods, the result is the pod and the
// container: "shop/web-7d4f nginx". Without such a name, returns the PID namespace: "[pid space 4026532256]", or
// "[pid space of 812]" with its first process. Returns "[host]" for the first namespace, and an empty string if the
// trace lacks this information.
std::string container_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns,
                         const MadePidSpaces& made = {});
bool is_kernel_thread(const TraceTasks& tasks, Process process);

}  // namespace kmt
