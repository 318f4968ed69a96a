/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by kernel_caches.bpf.c and its reader. */
#pragma once

enum {
  KMT_KERNEL_CACHE_NAME_BYTES = 64,
  KMT_MOST_NODES = 64,
  KMT_MOST_PARTIAL_SLABS = 1 << 17 /* maximum number of slabs of one node that are visited */
};

/* A slab cache of the running kernel. */
struct kmt_kernel_cache {
  char name[KMT_KERNEL_CACHE_NAME_BYTES];
  unsigned int object_bytes;  /* size of an object with its padding */
  unsigned int knows_objects; /* 0: `objects` and `active` are unknown */
  unsigned long long objects; /* in all slabs */
  unsigned long long active;  /* objects in use, and free objects in the slabs of CPUs and in sheaves */
};
