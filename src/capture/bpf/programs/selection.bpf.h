// SPDX-License-Identifier: GPL-2.0-or-later
// Selects events of some processes and their children, or of a cgroup.
#pragma once

#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

// The type is not bool: skeletons declare a bool as `_Bool`, which is invalid in C++.
const volatile __u8 only_processes = 0;
const volatile __u8 only_cgroup = 0;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, u32);    // ID of the thread group
  __type(value, u64);  // start time (task_struct.start_time); 0 if the process was selected when tracing started
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, u32);
} cgroup SEC(".maps");

__u64 processes_not_followed = 0;  // number of processes that were forked while `processes` was full

static __always_inline bool selected(void) {
  if (only_processes) {
    const u32 process = bpf_get_current_pid_tgid() >> 32;
    if (!bpf_map_lookup_elem(&processes, &process)) return false;
  }
  return !only_cgroup || bpf_current_task_under_cgroup(&cgroup, 0) == 1;
}

SEC("raw_tp/sched_process_fork")
int follow_fork(u64* context) {
  const struct task_struct* parent = (const struct task_struct*)context[0];
  const struct task_struct* child = (const struct task_struct*)context[1];
  const u32 from = BPF_CORE_READ(parent, tgid);
  const u32 to = BPF_CORE_READ(child, tgid);
  const u64 start = BPF_CORE_READ(child, start_time);
  if (from == to || !bpf_map_lookup_elem(&processes, &from)) return 0;
  if (bpf_map_update_elem(&processes, &to, &start, BPF_ANY) != 0) __sync_fetch_and_add(&processes_not_followed, 1);
  return 0;
}

// After this event, the task allocates and frees nothing. Its ID became free a moment earlier (release_task), so
// another process may already have the ID. The start time distinguishes the two processes. If a new process receives
// the ID in the nanoseconds between the comparison and the deletion, the new process is not followed.
SEC("raw_tp/sched_process_free")
int forget_process(u64* context) {
  const struct task_struct* task = (const struct task_struct*)context[0];
  const u32 process = BPF_CORE_READ(task, tgid);
  if (BPF_CORE_READ(task, pid) != (int)process) return 0;
  const u64* start = bpf_map_lookup_elem(&processes, &process);
  if (start && (*start == 0 || *start == BPF_CORE_READ(task, start_time))) bpf_map_delete_elem(&processes, &process);
  return 0;
}
