// SPDX-License-Identifier: GPL-2.0-or-later
// Selects tasks for BPF programs, in the kernel (selection.bpf.h).
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

struct bpf_map;

namespace kmt {

struct BpfSelection {
  std::vector<pid_t> processes;  // these processes and their future children; empty: all processes
  std::string cgroup;            // folder of a cgroup (version 2), including its subfolders; empty: all cgroups
};

// Fills the maps of selection.bpf.h. Throws Error.
void fill_selection(const BpfSelection& selection, bpf_map* processes, bpf_map* cgroup);

}  // namespace kmt
