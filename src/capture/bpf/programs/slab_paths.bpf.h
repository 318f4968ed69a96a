// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the slab objects of kernel paths without a tracepoint (trace/code/untraced_paths.hpp), on Linux 6.13 and
// later. Include it after selection.bpf.h. The file that includes it defines freed_untraced(), which is called for each
// object that these paths free.
//
// kfree_rcu() is counted where the object is really freed: by kfree(), by kmem_cache_free_bulk(), or when it enters a
// sheaf, from which no event follows.
#pragma once

#include "capture/bpf/programs/cache_counters.bpf.h"

// An upper limit for the objects of one call. The largest callers pass a page of pointers.
#define KMT_MOST_IN_BULK 65536

struct bulk_free {
  u64 objects;  // address of the array
  u32 cpu;
  u32 counts_each;  // true if the caches of the objects differ, and the objects are counted
};

static long free_one_of_bulk(u64 index, struct bulk_free* bulk) {
  u64 object = 0;
  bpf_probe_read_kernel(&object, sizeof object, (const void*)(bulk->objects + index * sizeof object));
  freed_untraced(object);
  if (!bulk->counts_each) return 0;
  const struct kmem_cache* cache = bpf_get_kmem_cache(object);
  if (cache) count_objects(cache, bulk->cpu, KMT_SLAB_free_bulk, 1);
  return 0;
}

static __always_inline bool counts_task(void) { return !(only_processes || only_cgroup) || selected(); }

SEC("fentry/kmem_cache_free_bulk")
int free_bulk(u64* context) {
  const struct kmem_cache* cache = (const struct kmem_cache*)context[0];
  const u64 count = context[1];
  const bool counts = counts_task();
  struct bulk_free bulk = {0, bpf_get_smp_processor_id(), counts && !cache};
  // Linux 6.18 refuses context[2], because its type is a pointer to a pointer.
  if (bpf_get_func_arg(context, 2, &bulk.objects) != 0) return 0;
  if (counts && cache) count_objects(cache, bulk.cpu, KMT_SLAB_free_bulk, count);
  bpf_loop(count < KMT_MOST_IN_BULK ? count : KMT_MOST_IN_BULK, free_one_of_bulk, &bulk, 0);
  return 0;
}

// The function returns true if the object is in a sheaf now. If not, another path frees it.
SEC("fexit/__kfree_rcu_sheaf")
int free_rcu_sheaf(u64* context) {
  const struct kmem_cache* cache = (const struct kmem_cache*)context[0];
  u64 result = 0;
  if (bpf_get_func_ret(context, &result) != 0 || (u8)result == 0) return 0;
  freed_untraced(context[1]);
  if (counts_task()) count_objects(cache, bpf_get_smp_processor_id(), KMT_SLAB_free_rcu_sheaf, 1);
  return 0;
}

// The result is the number of objects or 0; since Linux 7.2, it is a bool, and the bytes above it are undefined.
SEC("fexit/kmem_cache_alloc_bulk_noprof")
int alloc_bulk(u64* context) {
  const struct kmem_cache* cache = (const struct kmem_cache*)context[0];
  const u64 count = context[2];
  u64 result = 0;
  if (!counts_task() || bpf_get_func_ret(context, &result) != 0) return 0;
  if ((u32)result == (u32)count || (u8)result == 1)
    count_objects(cache, bpf_get_smp_processor_id(), KMT_SLAB_alloc_bulk, count);
  return 0;
}

SEC("fexit/_kmalloc_nolock_noprof")
int alloc_nolock(u64* context) {
  u64 object = 0;
  if (!counts_task() || bpf_get_func_ret(context, &object) != 0 || object == 0) return 0;
  const struct kmem_cache* cache = bpf_get_kmem_cache(object);
  if (cache) count_objects(cache, bpf_get_smp_processor_id(), KMT_SLAB_alloc_nolock, 1);
  return 0;
}

SEC("fentry/kfree_nolock")
int free_nolock(u64* context) {
  freed_untraced(context[0]);
  if (!counts_task()) return 0;
  const struct kmem_cache* cache = bpf_get_kmem_cache(context[0]);
  if (cache) count_objects(cache, bpf_get_smp_processor_id(), KMT_SLAB_free_nolock, 1);
  return 0;
}
