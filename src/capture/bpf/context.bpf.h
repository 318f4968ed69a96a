// SPDX-License-Identifier: GPL-2.0-or-later
// Whether an interrupt is at work on this CPU: what it allocates does not belong to the task that it interrupted. The
// kernel's own counter lies elsewhere on each architecture and release, and is not always among the symbols that
// programs may use; tracepoints that tell the begin and the end of interrupts are everywhere.
#pragma once

#include "capture/bpf/heap.h"
#include "capture/bpf/kernel_types.bpf.h"

#include <bpf/bpf_helpers.h>

struct interrupts {
  s32 soft;
  s32 hard;
} __attribute__((aligned(KMT_APART)));

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // as many as there are CPUs
  __type(key, u32);
  __type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline struct interrupts* interrupts_of(u32 cpu) { return bpf_map_lookup_elem(&interrupts, &cpu); }

static __always_inline enum kmt_context current_context(void) {
  const struct interrupts* here = interrupts_of(bpf_get_smp_processor_id());
  if (!here) return KMT_IN_TASK;
  return here->hard > 0 ? KMT_IN_HARDIRQ : here->soft > 0 ? KMT_IN_SOFTIRQ : KMT_IN_TASK;
}

// Those that were at work when watching began end first: nothing goes below zero.
static __always_inline int enter(s32 soft, s32 hard) {
  struct interrupts* here = interrupts_of(bpf_get_smp_processor_id());
  if (here && here->soft + soft >= 0 && here->hard + hard >= 0) {
    here->soft += soft;
    here->hard += hard;
  }
  return 0;
}

#define KMT_INTERRUPT(event, soft, hard) \
  SEC("tp_btf/" #event)                  \
  int on_##event(__attribute__((unused)) void* context) { return enter(soft, hard); }
KMT_INTERRUPT(softirq_entry, 1, 0)
KMT_INTERRUPT(softirq_exit, -1, 0)
KMT_INTERRUPT(irq_handler_entry, 0, 1)
KMT_INTERRUPT(irq_handler_exit, 0, -1)
