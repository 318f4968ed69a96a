/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by heap.bpf.c and its reader. */
#pragma once

/* Events of allocations come first: each has its own table and sampler on each CPU, because a program never
   interrupts itself. */
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
  KMT_CACHE_NAME_BYTES = 32,
  KMT_STACK_FRAMES = 127,
  KMT_APART = 128,              /* bytes that CPUs keep from each other's cache lines */
  KMT_PROBES = 8,               /* slots of a table that are looked at for a site */
  KMT_FILTER_SLOTS = 1 << 16,   /* a byte each: number of followed objects with that hash */
  KMT_MOST_IN_FILTER_SLOT = 250 /* more are not followed, so that no byte overflows */
};

/* State of a followed object. */
enum kmt_followed { KMT_ENDED, KMT_LIVES };

/* The exact sums of a call site; an unused slot has no events. */
struct kmt_site {
  unsigned long long call_site; /* 0: not in the event */
  unsigned long long what;      /* address of the struct kmem_cache; else bytes allocated, or 1 + order of pages */
  unsigned int process;         /* 0 in interrupts */
  unsigned int context;
  unsigned long long cgroup;        /* 0 in interrupts */
  char comm[KMT_COMM_BYTES];        /* of the first event's task */
  char cache[KMT_CACHE_NAME_BYTES]; /* empty: not in the event */
  unsigned long long events;        /* including failed ones */
  unsigned long long failed;
  unsigned long long requested; /* bytes */
  unsigned long long allocated;
};

/* A sampled allocation, in the ring buffer, cut after its last frame. */
struct kmt_sample {
  unsigned long long pointer; /* of the object or struct page */
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  unsigned long long call_site;
  unsigned long long requested;
  unsigned long long allocated;
  unsigned long long cgroup; /* 0 in interrupts */
  unsigned int process;
  unsigned int task;
  unsigned short event;   /* enum kmt_heap_event */
  unsigned char context;  /* enum kmt_context */
  unsigned char followed; /* whether its free will be seen */
  unsigned int frames;
  char comm[KMT_COMM_BYTES];
  char cache[KMT_CACHE_NAME_BYTES]; /* empty: not in the event */
  unsigned long long stack[KMT_STACK_FRAMES];
};

enum kmt_end {
  KMT_FREED,
  KMT_REPLACED,  /* its free was missed: another object has its address */
  KMT_TOLD_AGAIN /* a duplicate event follows and counts instead */
};

/* The end of a sampled object, in the same buffer; its size distinguishes it. */
struct kmt_sample_end {
  unsigned long long pointer;
  unsigned long long time_ns;
  unsigned long long end; /* enum kmt_end */
};

/* Losses since the start, of all programs and CPUs together. */
struct kmt_heap_losses {
  unsigned long long samples;    /* the ring buffer was full */
  unsigned long long ends;       /* the same, for ends; or the table of followed objects was busy */
  unsigned long long unfollowed; /* too many objects, or that table was busy */
  unsigned long long sites;      /* events in the sums only, because a table was full */
  unsigned long long site_bytes; /* their bytes */
  unsigned long long no_stack;   /* samples without one */
};
