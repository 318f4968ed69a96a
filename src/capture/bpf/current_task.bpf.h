// SPDX-License-Identifier: GPL-2.0-or-later
// Whose task is at work. A helper that is called costs more than what it does, for the speculation that its return has
// to hinder: one call for all ids.
#pragma once

#include "capture/bpf/kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct task_ids {
  u32 process;
  u32 thread;
  u64 cgroup;  // in the unified hierarchy
};

static __always_inline struct task_ids current_task(void) {
  struct task_ids ids = {};
  if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
    const struct task_struct* task = (const struct task_struct*)bpf_get_current_task_btf();
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
