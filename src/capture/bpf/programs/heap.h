/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by heap.bpf.c and its reader. */
#pragma once

#include "capture/bpf/programs/cache_counters.h"

/* Allocation events come first. Each has its own table and sampler on each CPU. These need no lock, because a program
   never interrupts itself. */
enum kmt_heap_event {
  KMT_HEAP_kmalloc,
  KMT_HEAP_kmalloc_node,
  KMT_HEAP_kmem_cache_alloc,
  KMT_HEAP_kmem_cache_alloc_node,
  KMT_HEAP_mm_page_alloc,
  KMT_HEAP_ALLOCATIONS,
  KMT_HEAP_kfree = KMT_HEAP_ALLOCATIONS,
  KMT_HEAP_kmem_cache_free,
  KMT_HEAP_mm_page_free,
  KMT_HEAP_EVENTS
};

enum kmt_context { KMT_IN_TASK, KMT_IN_SOFTIRQ, KMT_IN_HARDIRQ };

enum {
  KMT_COMM_BYTES = 16,
  KMT_STACK_FRAMES = 127,
  KMT_APART = 128,              /* alignment that keeps CPUs on separate cache lines */
  KMT_PROBES = 8,               /* maximum number of slots that are searched for a site */
  KMT_FILTER_SLOTS = 1 << 16,   /* each slot is one byte: the number of followed objects with this hash */
  KMT_MOST_IN_FILTER_SLOT = 250 /* limit of followed objects, so that no byte overflows */
};

/* The state of a followed object. */
enum kmt_followed { KMT_ENDED, KMT_LIVES };

/* The exact sums of a call site. An unused slot has 0 events. */
struct kmt_site {
  unsigned long long call_site; /* 0 if not in the event */
  unsigned long long what;      /* address of struct kmem_cache; pages: 1 + page order; otherwise: bytes allocated */
  unsigned int process;         /* 0 in softirqs; in hardirqs, the interrupted process */
  unsigned int context;
  unsigned long long cgroup;        /* ID of the cgroup; 0 in softirqs; in hardirqs, that of the interrupted process */
  char comm[KMT_COMM_BYTES];        /* name of the process in the first event */
  char cache[KMT_CACHE_NAME_BYTES]; /* name of the cache; empty if the event lacks it */
  unsigned long long events;        /* number of events, including failed ones */
  unsigned long long failed;
  unsigned long long requested; /* bytes */
  unsigned long long allocated;
};

/* A sampled allocation in the ring buffer. The record ends after the last frame. */
struct kmt_sample {
  unsigned long long pointer; /* address of the object or of struct page */
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  unsigned long long call_site;
  unsigned long long requested;
  unsigned long long allocated;
  unsigned long long cgroup; /* 0 in softirqs; in hardirqs, the cgroup of the interrupted process */
  unsigned int process;
  unsigned int task;
  unsigned short event;   /* enum kmt_heap_event */
  unsigned char context;  /* enum kmt_context */
  unsigned char followed; /* true if the end of the object will be reported */
  unsigned int frames;
  char comm[KMT_COMM_BYTES];        /* name of the process, or of the thread if names_threads is 1 */
  char cache[KMT_CACHE_NAME_BYTES]; /* name of the cache; empty if the event lacks it */
  unsigned long long stack[KMT_STACK_FRAMES];
};

enum kmt_end {
  KMT_FREED,
  KMT_REPLACED, /* the free was missed; another object has this address now */
  KMT_DUPLICATE /* a duplicate event follows, which is counted instead */
};

/* The end of a sampled object, in the same ring buffer. The size of the record distinguishes an end from a sample. */
struct kmt_sample_end {
  unsigned long long pointer;
  unsigned long long time_ns;
  unsigned long long end; /* enum kmt_end */
};

/* Losses since the start, summed over all programs and CPUs. */
struct kmt_heap_losses {
  unsigned long long samples; /* samples lost because the ring buffer was full */
  /* number of ends lost, because the ring buffer was full or the table of followed objects was busy */
  unsigned long long ends;
  /* number of samples that were not followed, because there were too many or the table was busy */
  unsigned long long unfollowed;
  unsigned long long sites;      /* number of events that are missing in the sums of sites, because a table was full */
  unsigned long long site_bytes; /* allocated bytes of these events */
  unsigned long long no_stack;   /* samples without a stack */
};
