/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of counters.bpf.c, shared with their reader. */
#pragma once

#include "capture/bpf/programs/events.h"

struct kmt_counter {
  unsigned long long events;
  unsigned long long failed; /* number of failed events; their bytes are not counted */
  unsigned long long requested;
  unsigned long long allocated;
};

/* The events of slab objects of Linux 6.13 and later, whose objects are counted by slab cache. */
enum kmt_slab_event {
  KMT_SLAB_kmalloc,
  KMT_SLAB_kmem_cache_alloc,
  KMT_SLAB_kfree,
  KMT_SLAB_kmem_cache_free,
  KMT_SLAB_EVENTS,
  KMT_NO_SLAB_EVENT = KMT_SLAB_EVENTS
};

#define KMT_CACHES 512        /* size of a table, a power of two; kernels have 100 to 400 caches */
#define KMT_CACHE_PROBES 64 /* places where an entry is looked for */
#define KMT_CACHE_NAME_BYTES 32

/* An entry of a table; unused if `objects` is 0. */
struct kmt_cache_counter {
  unsigned long long name_address; /* in the kernel; stands for the cache */
  unsigned long long objects;
  unsigned int object_bytes; /* size of an object with its padding */
  char name[KMT_CACHE_NAME_BYTES];
};

/* The counters of one CPU. They need no lock: only that CPU writes them, and a program never interrupts itself. */
struct kmt_cpu_counters {
  struct kmt_counter of[KMT_EVENT_COUNT];
};
