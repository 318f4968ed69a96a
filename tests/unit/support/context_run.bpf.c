// SPDX-License-Identifier: GPL-2.0-or-later
// Determines the context (task or interrupt) at tracepoints whose context is known. Counts right and wrong results.
#include "capture/bpf/programs/context.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__u64 right[3] = {};  // index: enum kmt_context
__u64 wrong[3] = {};

static __always_inline int expect(enum kmt_context expected) {
  const enum kmt_context found = context_of(current_task());
  __sync_fetch_and_add(found == expected ? &right[expected] : &wrong[expected], 1);
  return 0;
}

#define KMT_EXPECT(event, context) \
  SEC("raw_tp/" #event)            \
  int at_##event(__attribute__((unused)) void* arguments) { return expect(context); }

KMT_EXPECT(sched_switch, KMT_IN_TASK)
KMT_EXPECT(sys_enter, KMT_IN_TASK)
KMT_EXPECT(sys_exit, KMT_IN_TASK)
KMT_EXPECT(softirq_entry, KMT_IN_SOFTIRQ)
KMT_EXPECT(softirq_exit, KMT_IN_SOFTIRQ)
KMT_EXPECT(irq_handler_entry, KMT_IN_HARDIRQ)
KMT_EXPECT(irq_handler_exit, KMT_IN_HARDIRQ)
KMT_EXPECT(local_timer_entry, KMT_IN_HARDIRQ)  // only on x86
KMT_EXPECT(local_timer_exit, KMT_IN_HARDIRQ)
