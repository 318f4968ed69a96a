// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs that record calls, in a form that a test can run with artificial calls and interrupts.
#include "capture/bpf/programs/rings.bpf.h"

__u32 made_up_flags = 0;
#define current_flags() (*(volatile __u32*)&made_up_flags & 0xff)
#include "capture/bpf/programs/calls.bpf.c"

// The interrupt level of the program that this program interrupts; 0 if it interrupts none.
__u32 level_below = 0;

static struct kmt_ring* claim_below(u32 stack) {
  const u32 level = *(volatile __u32*)&level_below & KMT_LEVELS;
  return level ? claim_ring(bpf_get_smp_processor_id(), bpf_get_current_task(), level, stack) : 0;
}

#define FROM(context) \
  { (context)[0], (context)[1], (context)[2], (context)[3], (context)[4], (context)[5] }

SEC("raw_tp")
int run_entry(u64* context) {
  const u64 arguments[KMT_CALL_ARGUMENTS] = FROM(context + 2);
  struct kmt_ring* below = claim_below((u32)context[1]);
  call_begins(context[0], (u32)context[1], (u32)context[1], arguments, context[2 + KMT_CALL_ARGUMENTS], true);
  if (below) release_ring(below);
  return 0;
}

SEC("raw_tp")
int run_exit(u64* context) {
  const u64 arguments[KMT_CALL_ARGUMENTS] = FROM(context + 4);
  struct kmt_ring* below = claim_below((u32)context[1]);
  call_ends(context[0], (u32)context[1], (u32)context[1], (u32)context[2], sum_of(arguments), context[3]);
  if (below) release_ring(below);
  return 0;
}

// The argument points to kernel memory: the task_struct of the task that runs the test.
SEC("raw_tp")
int run_entry_with_task(u64* context) {
  u64 arguments[KMT_CALL_ARGUMENTS] = {bpf_get_current_task()};
  return call_begins(context[0], (u32)context[1], (u32)context[1], arguments, 0, true);
}
