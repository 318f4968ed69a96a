// SPDX-License-Identifier: GPL-2.0-or-later
// Which process a task belongs to, who started that, and where it ran.
#pragma once

#include <cstdint>
#include <string>

#include "trace/trace_info.hpp"

namespace kmt {

struct Process {
  std::int32_t pid = 0;
  const TaskLife* life = nullptr;  // null: born before the trace, or unseen
};

Process process_at(const TraceInfo& info, std::int32_t tid, std::uint64_t time_ns);
// The process that lived when the trace began and started this one, or its parents. The process itself where it lived
// then, or where the trace does not tell who started it.
Process oldest_ancestor(const TraceInfo& info, Process process);
// The path of its cgroup of version 2; empty: the trace does not tell.
std::string cgroup_of(const TraceInfo& info, Process process, std::uint64_t time_ns);
// The container by the names that Docker, Podman, containerd, CRI-O, LXC and systemd-nspawn give cgroups: "docker
// 0123456789ab". Else "[pid space 4026532256]" of a PID namespace that is not the first one, or "[host]"; empty: the
// trace does not tell.
std::string container_of(const TraceInfo& info, Process process, std::uint64_t time_ns);
// The part of that which the path tells; empty: none.
std::string container_of_cgroup(std::string_view path);
bool is_kernel_thread(const TraceInfo& info, Process process);

}  // namespace kmt
