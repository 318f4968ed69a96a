// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel's description of a slab cache. If the kernel allows casts of pointers, reads the fields directly. A
// helper call would cost half as much as a run of an empty program.
#pragma once

#include "capture/bpf/programs/kernel_types.bpf.h"
#include "capture/bpf/programs/rdonly_cast.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct cache_sizes {
  u32 size;
  u32 object_size;
};

static __always_inline struct cache_sizes sizes_of(const struct kmem_cache* cache) {
  struct cache_sizes sizes = {};
  if (can_cast) {
    const struct kmem_cache* typed = bpf_rdonly_cast(cache, bpf_core_type_id_kernel(struct kmem_cache));
    sizes.size = typed->size;
    sizes.object_size = typed->object_size;
  } else if (bpf_core_field_offset(struct kmem_cache, object_size) ==
             bpf_core_field_offset(struct kmem_cache, size) + sizeof sizes.size) {
    // `size` and `object_size` are adjacent in every kernel so far
    bpf_probe_read_kernel(&sizes, sizeof sizes, &cache->size);
  } else {
    sizes.size = BPF_CORE_READ(cache, size);
    sizes.object_size = BPF_CORE_READ(cache, object_size);
  }
  return sizes;
}
