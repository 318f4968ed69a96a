/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by cache_counters.bpf.h and its reader. */
#pragma once

/* The events of slab objects of Linux 6.13 and later, whose objects are counted by slab cache. */
enum kmt_slab_event {
  KMT_SLAB_kmalloc,
  KMT_SLAB_kmem_cache_alloc,
  KMT_SLAB_kfree,
  KMT_SLAB_kmem_cache_free,
  /* paths without a tracepoint (slab_paths.bpf.h) */
  KMT_SLAB_alloc_bulk,
  KMT_SLAB_alloc_nolock,
  KMT_SLAB_free_bulk,
  KMT_SLAB_free_rcu_sheaf,
  KMT_SLAB_free_nolock,
  KMT_SLAB_EVENTS,
  KMT_NO_SLAB_EVENT = KMT_SLAB_EVENTS
};

/* An enumeration and not macros, so that a name that another header uses too is an error in every source file. */
enum {
  KMT_COUNTED_CACHES = 512,      /* size of a table, a power of two; kernels have 100 to 400 caches */
  KMT_COUNTED_CACHE_PROBES = 64, /* places where an entry is looked for */
  KMT_CACHE_NAME_BYTES = 32
};

/* An entry of a table; unused if `objects` is 0. */
struct kmt_cache_counter {
  unsigned long long name_address; /* in the kernel; stands for the cache, together with object_bytes */
  unsigned long long objects;
  unsigned int object_bytes; /* size of an object with its padding */
  char name[KMT_CACHE_NAME_BYTES];
};
