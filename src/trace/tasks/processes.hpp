// SPDX-License-Identifier: GPL-2.0-or-later
// Which process a task belongs to, who started that, and where it ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/tasks/tasks.hpp"

namespace kmt {

struct Process {
  std::int32_t pid = 0;
  const TaskLife* life = nullptr;  // null: born before the trace, or its birth was not recorded
};

// The PID namespaces that tasks made, as their allocations tell: of one by unshare(2), which changes nothing of the
// task itself, no other event does.
class MadePidSpaces {
 public:
  void made(std::int32_t tid, std::uint64_t time_ns) { made_.try_emplace({tid, time_ns}); }
  // The first process of the one that this life began in, if that is one of its creator's by unshare(2); else 0.
  std::int32_t first_process(const TraceTasks& tasks, const TaskLife& life) const;

 private:
  // The first process; 0 if clone(2) made it. It is looked up on demand.
  struct First {
    bool is_known = false;
    std::int32_t pid = 0;
  };
  mutable std::map<std::pair<std::int32_t, std::uint64_t>, First> made_;  // by task and time
};

Process process_at(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns);
// The process that lived when the trace began and started this one, or its parents. The process itself where it lived
// then, or where the trace does not say who started it.
Process oldest_ancestor(const TraceTasks& tasks, Process process);
// The path of its cgroup of version 2; empty: the trace does not say.
std::string cgroup_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns);
// The container by the names that Docker, Podman, containerd, CRI-O, LXC and systemd-nspawn give cgroups: "docker
// 0123456789ab". Else "[pid space 4026532256]" of a PID namespace that is not the first one, "[pid space of 812]" by
// its first process, or "[host]"; empty: the trace does not say.
std::string container_of(const TraceTasks& tasks, Process process, std::uint64_t time_ns,
                         const MadePidSpaces& made = {});
// The container's name in a cgroup path; empty: none.
std::string container_of_cgroup(std::string_view path);
bool is_kernel_thread(const TraceTasks& tasks, Process process);

}  // namespace kmt
