/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by records.bpf.c and its reader: rings of entries, one for each program on each CPU. A program
   never interrupts itself, so a ring has one writer and needs no lock. The reader maps it. All programs of a CPU share
   the rings of calls (calls.h): a writer claims one. */
#pragma once

#include "capture/bpf/programs/events.h"

enum {
  KMT_MOST_TAKEN = 10,        /* arguments of a tracepoint; percpu_alloc_percpu has as many */
  KMT_MOST_KERNEL_WORDS = 63, /* of the kernel's own record */
  KMT_RECORD_FRAMES = 127,    /* of a kernel stack */
  KMT_USER_FRAMES = 60,       /* of a user stack: an entry has 255 words at most */
  KMT_STACK_WORDS = 1 + KMT_RECORD_FRAMES + KMT_USER_FRAMES,
  KMT_ENTRY_LOST = 255, /* of kmt_entry.event: the one word is the number of events lost here */
  KMT_ENTRY_CALL = 254, /* a function was entered, see calls.h */
  KMT_ENTRY_RETURN = 253,
  KMT_MOST_EVENTS = 253,
  KMT_CACHES = 1024, /* of a table; a power of two */
  KMT_CACHE_PROBES = 16,
  KMT_RECORDED_NAME_BYTES = 40
};

/* An event, followed by words of 8 bytes: arguments of the tracepoint, or the kernel's own record without its first 8
   bytes; then the addresses of the kernel stack, innermost first. With user stacks, a word precedes them (the process,
   and the number of kernel addresses << 32), and the user's addresses follow. */
struct kmt_entry {
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  int task;                   /* thread id */
  unsigned char event;        /* enum kmt_event; from KMT_EVENT_COUNT on the kernel's own records; KMT_ENTRY_… */
  unsigned char words;        /* that follow */
  unsigned char flags;        /* as in ftrace's common_flags: only those of interrupts */
  unsigned char is_nested;    /* the event interrupted its own program; a second one recorded it */
};

struct kmt_ring {
  /* Written by the program. Positions count bytes and never decrease. The entry at a position is at data[position &
     mask]; it may extend past the end, where there is room for the largest entry. */
  unsigned long long head;  /* end of the last complete entry */
  unsigned long long begun; /* differs from head while an entry is being written */
  unsigned long long lost;  /* since the last entry: the ring was full */
  unsigned long long lost_since_ns;
  unsigned long long all_lost;
  unsigned long long nested_seen; /* of a second program: how often it replaced the first one */
  unsigned long long claim;       /* of rings of calls: the owner (calls.bpf.c); 0: free */
  unsigned long long unused;
  /* Written by the reader. */
  unsigned long long tail; /* earlier entries may be overwritten */
  unsigned long long unused_too[7];
  unsigned char data[];
};

/* The facts of a slab cache, so that an event needs only its number. A slot is never reused. */
struct kmt_cache {
  unsigned long long pointer; /* of the struct kmem_cache; 0: unused */
  unsigned int generation;    /* at the last look; caches may have been destroyed since */
  unsigned int size;
  unsigned int object_size;
  unsigned int flags;
  char name[KMT_RECORDED_NAME_BYTES];
};

enum kmt_recording { KMT_RECORDING_BEGINS, KMT_RECORDING_RUNS, KMT_RECORDING_IS_OVER };

/* The parts of its event that a program takes. */
struct kmt_taken {
  unsigned char arguments; /* number of leading ones */
  signed char cache;       /* index of a struct kmem_cache *, replaced by its number */
  unsigned char ring;
  unsigned char table;       /* of caches */
  unsigned char nested_ring; /* the same of the second program */
  unsigned char nested_table;
  unsigned char is_recorded; /* else only checked for destroyed caches */
  unsigned char is_free;     /* the recorder's own are kept: they may free others' memory */
};

/* The cookie of an attached program that takes the kernel's own records. `of_all`: from all tasks, because it may
   concern the selected ones. */
#define KMT_COOKIE(event, words, is_free, of_all) ((event) | (words) << 8 | (is_free) << 16 | (of_all) << 17)
