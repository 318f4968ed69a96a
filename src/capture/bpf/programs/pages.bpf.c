// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the address of the kernel's page descriptors (struct page). It is computed from a freed page: the raw
// tracepoint has the address of its descriptor, and the kernel's record has its frame number.
#include "capture/bpf/programs/pages.h"
#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 own_task = 0;  // only frees by this task are used

__u64 addresses[KMT_PAGE_PAIRS] = {};
__u64 numbers[KMT_PAGE_PAIRS] = {};
__u32 addresses_taken = 0;
__u32 numbers_taken = 0;

static __always_inline bool is_own(void) { return (u32)bpf_get_current_pid_tgid() == own_task; }

SEC("raw_tp/mm_page_free")
int take_address(u64* context) {
  if (is_own() && addresses_taken < KMT_PAGE_PAIRS) addresses[addresses_taken++ & (KMT_PAGE_PAIRS - 1)] = context[0];
  return 0;
}

struct page_record {
  u64 common;
  unsigned long pfn;  // first field since Linux 4.0
};

SEC("tp/kmem/mm_page_free")
int take_number(struct page_record* record) {
  if (is_own() && numbers_taken < KMT_PAGE_PAIRS) numbers[numbers_taken++ & (KMT_PAGE_PAIRS - 1)] = record->pfn;
  return 0;
}
