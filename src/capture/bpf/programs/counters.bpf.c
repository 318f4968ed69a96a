// SPDX-License-Identifier: GPL-2.0-or-later
// Counts all kernel memory events and their bytes inside the kernel.
#include "capture/bpf/programs/counters.h"

#include "capture/bpf/programs/cache_counters.bpf.h"
#include "capture/bpf/programs/selection.bpf.h"
#include "capture/bpf/programs/tracepoint.bpf.h"

static __always_inline void freed_untraced(__attribute__((unused)) u64 object) {}

#include "capture/bpf/programs/slab_paths.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct kmt_arguments arguments[KMT_EVENT_COUNT] = {};
const volatile __u64 page_size = 4096;

// An array with one element for each CPU. The reader maps the array, which saves system calls.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_cpu_counters);
} counters SEC(".maps");

static __always_inline enum kmt_slab_event slab_event_of(enum kmt_event event) {
  switch (event) {
    case KMT_EVENT_kmalloc: return KMT_SLAB_kmalloc;
    case KMT_EVENT_kmem_cache_alloc: return KMT_SLAB_kmem_cache_alloc;
    case KMT_EVENT_kfree: return KMT_SLAB_kfree;
    case KMT_EVENT_kmem_cache_free: return KMT_SLAB_kmem_cache_free;
    default: return KMT_NO_SLAB_EVENT;
  }
}

static __always_inline int count(const u64* context, enum kmt_event event, enum kmt_outcome outcome) {
  if ((only_processes || only_cgroup) && !selected()) return 0;
  const u32 cpu = bpf_get_smp_processor_id();
  struct kmt_cpu_counters* of_cpu = bpf_map_lookup_elem(&counters, &cpu);
  if (!of_cpu) return 0;
  struct kmt_counter* counter = &of_cpu->of[event];
  counter->events += 1;
  if (outcome == KMT_IS_FAILURE || (outcome == KMT_MAY_FAIL && failed(context, &arguments[event]))) {
    counter->failed += 1;
    return 0;
  }
  const struct amount amount = amount_of(context, &arguments[event], page_size);
  counter->requested += amount.requested;
  counter->allocated += amount.allocated;
  count_object(context, &arguments[event], cpu, slab_event_of(event));
  return 0;
}

#define KMT_EVENT(system, name, outcome) \
  SEC("raw_tp/" #name)                   \
  int count_##name(u64* context) { return count(context, KMT_EVENT_##name, outcome); }
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT
