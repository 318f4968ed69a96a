// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the objects of each slab cache. The events kmalloc and kfree do not name the cache, so bpf_get_kmem_cache()
// finds the cache by the object's address.
#pragma once

#include "capture/bpf/programs/cache_counters.h"
#include "capture/bpf/programs/kernel_types.bpf.h"
#include "capture/bpf/programs/tracepoint.bpf.h"

#include <bpf/bpf_helpers.h>

#ifdef KMT_WITHOUT_KERNEL_BTF
#define bpf_get_kmem_cache(address) ((struct kmem_cache*)(address))  // never runs
#else
// Since Linux 6.13 (kernel/bpf/helpers.c). Returns NULL for addresses outside slabs, such as those of large kmallocs.
extern struct kmem_cache* bpf_get_kmem_cache(u64 address) __ksym __weak;
#endif
// true if objects are counted: the running kernel has bpf_get_kmem_cache(), and counts were requested
const volatile __u8 counts_caches = 0;

// One table for each CPU and each program, so that only one program writes it. The reader maps the array.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_cache_counter);
} caches SEC(".maps");

__u64 uncounted_objects = 0;  // objects for whose cache a table had no room

// Adds objects of a cache to the table of an event. The verifier must know that `cache` points to a cache.
static __always_inline void count_objects(const struct kmem_cache* cache, u32 cpu, enum kmt_slab_event event,
                                          u64 objects) {
  // The verifier allows no calculation with the pointer, so the address of the name stands for the cache. Caches with
  // one name literal have the same address, and differ only in object_bytes.
  const u64 name = (u64)cache->name;
  const u32 object_bytes = cache->size;
  const u32 first = (cpu * KMT_SLAB_EVENTS + event) * KMT_COUNTED_CACHES;
  const u64 hash = (name >> 3) * 0x9e3779b97f4a7c15ull >> 40;
  for (u32 i = 0; i < KMT_COUNTED_CACHE_PROBES; ++i) {
    const u32 place = first + ((hash + i) & (KMT_COUNTED_CACHES - 1));
    struct kmt_cache_counter* counter = bpf_map_lookup_elem(&caches, &place);
    if (!counter) return;
    if (counter->objects == 0) {
      counter->name_address = name;
      counter->object_bytes = object_bytes;
      bpf_probe_read_kernel_str(counter->name, sizeof counter->name, (const void*)name);
    } else if (counter->name_address != name || counter->object_bytes != object_bytes) {
      continue;
    }
    counter->objects += objects;
    return;
  }
  __sync_fetch_and_add(&uncounted_objects, objects);
}

// Counts the object of an event. Does nothing for other events.
static __always_inline void count_object(const u64* context, const volatile struct kmt_arguments* places, u32 cpu,
                                         enum kmt_slab_event event) {
  if (!counts_caches || event == KMT_NO_SLAB_EVENT) return;
  const struct kmem_cache* cache;
  if (places->cache >= 0)  // saves the look-up; kernels with bpf_get_kmem_cache() allow the cast
    cache = bpf_rdonly_cast((const void*)argument(context, places->cache), bpf_core_type_id_kernel(struct kmem_cache));
  else
    cache = bpf_get_kmem_cache(argument(context, places->pointer));
  if (cache) count_objects(cache, cpu, event, 1);
}
