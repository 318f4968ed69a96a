// SPDX-License-Identifier: GPL-2.0-or-later
// Reads all IDs of the current task with one helper call. The call of a helper costs more than the helper's work,
// because of the mitigations for CPU vulnerabilities at the return.
#pragma once

#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct task_ids {
  u32 process;
  u32 thread;
  u64 cgroup;  // cgroup in the unified hierarchy
};

// True if the kernel allows programs to read directly from the task.
static __always_inline bool has_typed_task(void) {
#ifdef KMT_WITHOUT_KERNEL_BTF
  return false;
#else
  return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
#endif
}

static __always_inline const struct task_struct* current_task(void) {
  return has_typed_task() ? (const struct task_struct*)bpf_get_current_task_btf()
                          : (const struct task_struct*)bpf_get_current_task();
}

// Returns the IDs of the current task.
static __always_inline struct task_ids ids_of(const struct task_struct* task) {
  struct task_ids ids = {};
  if (has_typed_task()) {
    ids.process = task->tgid;
    ids.thread = task->pid;
    ids.cgroup = task->cgroups->dfl_cgrp->kn->id;
  } else {
    const u64 both = bpf_get_current_pid_tgid();
    ids.process = both >> 32;
    ids.thread = (u32)both;
    ids.cgroup = bpf_get_current_cgroup_id();
  }
  return ids;
}

// Reads the name of the task's process, which is the name of the first thread. Other threads may have other names.
static __always_inline void read_process_name(char* to, u32 bytes, const struct task_struct* task) {
  const struct task_struct* leader = BPF_CORE_READ(task, group_leader);
  bpf_core_read_str(to, bytes, &leader->comm);
}
