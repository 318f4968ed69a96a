/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by records.bpf.c and its reader: rings of entries. For events, each program has a ring on each
   CPU. A program never interrupts itself, so a ring has one writer and needs no lock. For calls (calls.h), all
   programs of a CPU share some rings, and a program claims a ring to write. The reader maps the rings. */
#pragma once

#include "capture/bpf/programs/events.h"

enum {
  KMT_MOST_TAKEN = 10,        /* maximum number of arguments of a tracepoint (percpu_alloc_percpu) */
  KMT_MOST_KERNEL_WORDS = 63, /* maximum number of words of the kernel's own record */
  KMT_RECORD_FRAMES = 127,    /* maximum number of frames of a kernel stack */
  KMT_USER_FRAMES = 60,       /* maximum frames of a user stack, because an entry has at most 255 words */
  KMT_STACK_WORDS = 1 + KMT_RECORD_FRAMES + KMT_USER_FRAMES,
  KMT_ENTRY_LOST = 255, /* value of kmt_entry.event; one word follows, the number of events lost here */
  KMT_ENTRY_CALL = 254, /* a call of a function started, see calls.h */
  KMT_ENTRY_RETURN = 253,
  KMT_MOST_EVENTS = 253,
  KMT_CACHES = 1024, /* number of slots of a table of slab caches; a power of two */
  KMT_CACHE_PROBES = 16,
  KMT_RECORDED_NAME_BYTES = 40
};

/* An entry, followed by words of 8 bytes. The first words are the tracepoint's arguments, or the kernel's own record
   without its first 8 bytes. Then follow the addresses of the kernel stack, innermost first. With user stacks, a
   word precedes the kernel stack (the process ID, and the number of kernel addresses << 32), and the addresses of
   the user stack follow. */
struct kmt_entry {
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  int task;                   /* thread id */
  unsigned char event;        /* enum kmt_event, or KMT_ENTRY_…; other numbers: a copy of the kernel's record */
  unsigned char words;        /* number of words that follow */
  unsigned char flags;        /* the bits of ftrace's common_flags that mark interrupts */
  unsigned char is_nested;    /* the event interrupted its own program; a second program recorded it */
};

struct kmt_ring {
  /* Written by the program. Positions count bytes and never decrease. The entry at a position is at data[position &
     mask]. An entry may extend past the end of the ring, where there is room for the largest entry. */
  unsigned long long head;  /* end of the last complete entry */
  unsigned long long begun; /* differs from head while an entry is being written */
  unsigned long long lost;  /* events lost since the last entry because the ring was full */
  unsigned long long lost_since_ns;
  unsigned long long all_lost;
  unsigned long long nested_seen; /* only in rings of second programs: number of events that the first program missed */
  unsigned long long claim;       /* only in rings for calls: the owner (see calls.bpf.c); 0: free */
  unsigned long long unused;
  /* Written by the reader. */
  unsigned long long tail; /* entries before this position may be overwritten */
  unsigned long long unused_too[7];
  unsigned char data[];
};

/* The description of a slab cache. An event contains only the number of the cache in this table. A slot is never
   reused. */
struct kmt_cache {
  unsigned long long pointer; /* address of struct kmem_cache; 0: unused slot */
  unsigned int generation;    /* value of cache_generation when the slot was last checked */
  unsigned int size;
  unsigned int object_size;
  unsigned int flags;
  char name[KMT_RECORDED_NAME_BYTES];
};

enum kmt_recording { KMT_RECORDING_BEGINS, KMT_RECORDING_RUNS, KMT_RECORDING_IS_OVER };

/* Describes what a program records of its event. */
struct kmt_taken {
  unsigned char arguments; /* number of recorded arguments, starting with the first */
  /* index of the argument that is a cache; the program records the number of the cache instead of the argument */
  signed char cache;
  unsigned char ring;
  unsigned char table;       /* table of caches */
  unsigned char nested_ring; /* ring of the second program */
  unsigned char nested_table;
  unsigned char is_recorded; /* false: the event is only checked for destroyed caches */
  /* true: the event is also recorded for the recorder itself, because the recorder may free memory of other tasks */
  unsigned char is_free;
};

/* The cookie of an attached program that copies the kernel's own records. If `of_all` is 1, the program records events
   of all tasks, because such an event may concern the selected tasks. */
#define KMT_COOKIE(event, words, is_free, of_all) ((event) | (words) << 8 | (is_free) << 16 | (of_all) << 17)
