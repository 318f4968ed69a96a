// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the interrupt level of this CPU, because an interrupt's allocations do not belong to the task that it
// interrupted. Uses the kernel's own count of nested contexts, so no start or end of an interrupt can be missed. This
// count (preempt_count) is usually a field of the task. On x86 it is a per-CPU variable, which is found from a task's
// run queue. On s390 it is in the CPU's lowcore, at address 0.
#pragma once

#include "capture/bpf/programs/current_task.bpf.h"
#include "capture/bpf/programs/heap.h"
#include "capture/bpf/programs/kernel_types.bpf.h"
#include "capture/bpf/programs/rdonly_cast.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

// The loader sets these constants (context_constants.hpp).
const volatile __s64 from_run_queue = 0;  // bytes from the run queue to the count (only x86)
const volatile __u32 hardirq_mask = 0xf0000;

// SOFTIRQ_OFFSET in include/linux/preempt.h; twice this value means that softirqs are disabled
#define SERVING_SOFTIRQ (1 << 8)

static __always_inline u32 count_at(const void* at) {
  if (can_cast) {
    const struct refcount_struct* typed = bpf_rdonly_cast(at, bpf_core_type_id_kernel(struct refcount_struct));
    return (u32)typed->refs.counter;
  }
  u32 count = 0;
  bpf_probe_read_kernel(&count, sizeof count, at);
  return count;
}

static __always_inline u32 preempt_count(const struct task_struct* task) {
  const struct task_struct___arm64* of_arm64 = (const void*)task;
  if (bpf_core_field_exists(of_arm64->thread_info.preempt.count))
    return has_typed_task() ? of_arm64->thread_info.preempt.count : BPF_CORE_READ(of_arm64, thread_info.preempt.count);
  if (bpf_core_field_exists(task->thread_info.preempt_count))
    return (u32)(has_typed_task() ? task->thread_info.preempt_count : BPF_CORE_READ(task, thread_info.preempt_count));
    // Uses only types that this kernel has. For other types, libbpf searches all modules, which requires CAP_SYS_ADMIN.
#if defined(__TARGET_ARCH_s390)
  const struct lowcore* lowcore = 0;
  return BPF_CORE_READ(lowcore, preempt_count);
#else
  const struct rq* of_cpu = has_typed_task() ? task->se.cfs_rq->rq : BPF_CORE_READ(task, se.cfs_rq, rq);
  return count_at((const u8*)of_cpu + from_run_queue);
#endif
}

// Returns flags as in common_flags: TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ of include/linux/trace_events.h. The code
// has no branches, so the verifier has fewer paths to check.
static __always_inline u8 flags_of(const struct task_struct* task) {
  const u32 count = preempt_count(task);
  u32 softirq = count;
  if (bpf_core_field_exists(task->softirq_disable_cnt))
    softirq = (u32)(has_typed_task() ? task->softirq_disable_cnt : BPF_CORE_READ(task, softirq_disable_cnt));
  return (-(count & hardirq_mask) >> 31 << 3) | (softirq & SERVING_SOFTIRQ) >> 8 << 4;
}

static __always_inline u8 current_flags(void) { return flags_of(current_task()); }

static __always_inline enum kmt_context context_of(const struct task_struct* task) {
  const u8 flags = flags_of(task);
  return flags >> 3 & 1 ? KMT_IN_HARDIRQ : flags >> 4 & 1 ? KMT_IN_SOFTIRQ : KMT_IN_TASK;
}
