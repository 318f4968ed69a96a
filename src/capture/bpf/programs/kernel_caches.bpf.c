// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the slab caches if /proc/slabinfo cannot be read. Computes active_objs like get_slabinfo() in mm/slub.c: all
// objects, without the free objects in the list of partial slabs of each node.
#include "capture/bpf/programs/kernel_caches.h"

#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nodes = 1;  // number of possible NUMA nodes

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
  struct list_head* next;
};

struct kmem_cache_node {  // mm/slub.c; nr_slabs and total_objects are in kernels with CONFIG_SLUB_DEBUG
  struct list_head partial;
  struct {
    s64 counter;
  } total_objects;
};

struct slab {  // mm/slab.h
  struct list_head slab_list;
  unsigned inuse : 16;
  unsigned objects : 15;
};

// Linux 7.2 and earlier have an array of pointers to nodes, and Linux 7.3 has an array of structs with such a pointer.
struct kmem_cache___with_nodes {
  struct kmem_cache_node* node[1];
};

struct kmem_cache_per_node_ptrs {
  struct kmem_cache_node* node;
};

struct kmem_cache___with_node_structs {
  struct kmem_cache_per_node_ptrs per_node[1];
};

struct bpf_iter_meta {
  struct seq_file* seq;
};

struct bpf_iter__kmem_cache {  // kernel/bpf/kmem_cache_iter.c, since Linux 6.13
  struct bpf_iter_meta* meta;
  struct kmem_cache* s;
};

#pragma clang attribute pop

struct walk {
  u64 head;
  u64 at;
  u64 free;
  u64 is_complete;
};

// The kernel may move slabs to other lists meanwhile, because this program takes no lock. If the walk does not return
// to the head of the list, the number of objects is unknown.
static long visit_slab(__attribute__((unused)) u32 index, struct walk* walk) {
  if (walk->at == walk->head) {
    walk->is_complete = 1;
    return 1;
  }
  const struct slab* slab = (const struct slab*)(walk->at - bpf_core_field_offset(struct slab, slab_list));
  const u64 objects = BPF_CORE_READ_BITFIELD_PROBED(slab, objects);
  const u64 in_use = BPF_CORE_READ_BITFIELD_PROBED(slab, inuse);
  if (in_use < objects) walk->free += objects - in_use;
  walk->at = (u64)BPF_CORE_READ(slab, slab_list.next);
  return 0;
}

// The places of the pointers to nodes, as offsets in a cache.
struct node_places {
  u64 first;
  u64 distance;  // between two pointers; 0: this kernel has no known layout
};

// Each branch has code that the compiler cannot move. Otherwise it would compute the offsets of both layouts, and the
// verifier refuses the offset of a field that this kernel lacks.
static __always_inline struct node_places places_of_nodes(void) {
  struct node_places places = {};
  if (bpf_core_field_exists(struct kmem_cache___with_node_structs, per_node)) {
    places.first = bpf_core_field_offset(struct kmem_cache___with_node_structs, per_node) +
                   bpf_core_field_offset(struct kmem_cache_per_node_ptrs, node);
    places.distance = bpf_core_type_size(struct kmem_cache_per_node_ptrs);
    asm volatile("" : "+r"(places.first), "+r"(places.distance));
  } else if (bpf_core_field_exists(struct kmem_cache___with_nodes, node)) {
    places.first = bpf_core_field_offset(struct kmem_cache___with_nodes, node);
    places.distance = sizeof(struct kmem_cache_node*);
    asm volatile("" : "+r"(places.first), "+r"(places.distance));
  }
  return places;
}

// Adds the objects of the node whose pointer is at this address. Returns false if they are unknown.
static __always_inline bool add_node(struct kmt_kernel_cache* entry, u64 place) {
  const struct kmem_cache_node* node = 0;
  if (bpf_probe_read_kernel(&node, sizeof node, (const void*)place) != 0) return false;
  if (!node) return true;
  const u64 head = (u64)node + bpf_core_field_offset(struct kmem_cache_node, partial);
  struct walk walk = {head, (u64)BPF_CORE_READ(node, partial.next), 0, 0};
  const u64 objects = BPF_CORE_READ(node, total_objects.counter);
  bpf_loop(KMT_MOST_PARTIAL_SLABS, visit_slab, &walk, 0);
  entry->objects += objects;
  entry->active += objects - walk.free;
  return walk.is_complete && walk.free <= objects;
}

SEC("iter/kmem_cache")
int list_caches(struct bpf_iter__kmem_cache* context) {
  const struct kmem_cache* cache = context->s;
  if (!cache) return 0;
  struct kmt_kernel_cache entry = {};
  bpf_probe_read_kernel_str(entry.name, sizeof entry.name, cache->name);
  entry.object_bytes = cache->size;
  // The verifier allows no calculation with the pointer, but allows it with a copy that is read as a number.
  u64 address = 0;
  bpf_probe_read_kernel(&address, sizeof address, &cache);
  const struct node_places places = places_of_nodes();
  entry.knows_objects = bpf_core_field_exists(struct kmem_cache_node, total_objects) && places.distance > 0;
  for (u32 i = 0; i < KMT_MOST_NODES && i < nodes && entry.knows_objects; ++i)
    if (!add_node(&entry, address + places.first + i * places.distance)) entry.knows_objects = 0;
  bpf_seq_write(context->meta->seq, &entry, sizeof entry);
  return 0;
}
