/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What records.bpf.c and who reads it share: rings of entries, one for each program on each CPU. A program never
   interrupts itself, so a ring has one writer and needs no lock. Who reads it has it mapped. Rings of calls (calls.h)
   are of all programs on a CPU: who writes to one has claimed it. */
#pragma once

#include "capture/bpf/programs/events.h"

enum {
  KMT_MOST_TAKEN = 10,        /* arguments of a tracepoint; percpu_alloc_percpu has as many */
  KMT_MOST_KERNEL_WORDS = 63, /* of a record that the kernel made */
  KMT_RECORD_FRAMES = 127,    /* of a kernel stack */
  KMT_USER_FRAMES = 60,       /* of a user stack: an entry has 255 words at most */
  KMT_STACK_WORDS = 1 + KMT_RECORD_FRAMES + KMT_USER_FRAMES,
  KMT_ENTRY_LOST = 255,       /* kmt_entry.event: its one word says how many were lost here */
  KMT_ENTRY_CALL = 254,       /* a function was entered, see calls.h */
  KMT_ENTRY_RETURN = 253,
  KMT_MOST_EVENTS = 253,
  KMT_CACHES = 1024, /* of a table; a power of two */
  KMT_CACHE_PROBES = 16,
  KMT_RECORDED_NAME_BYTES = 40
};

/* An event, and behind it its words of 8 bytes: arguments of the tracepoint, or the kernel's own record without its
   first 8 bytes; then the addresses of the kernel stack, innermost first. Where user stacks are recorded, in front of
   those a word, the process and the number of addresses of the kernel << 32, and behind them the user's. */
struct kmt_entry {
  unsigned long long time_ns; /* CLOCK_MONOTONIC */
  int task;                   /* thread id */
  unsigned char event;        /* enum kmt_event; from KMT_EVENT_COUNT on of the kernel's own records; KMT_ENTRY_… */
  unsigned char words;        /* behind this */
  unsigned char flags;        /* as in common_flags of ftrace: only those of interrupts */
  unsigned char is_nested;    /* came while the program of its event was at work, from a second one */
};

struct kmt_ring {
  /* Written by the program. Positions count bytes and never go back; what is at a position lies at data[it & mask] and
     may reach over the end, behind which there is room for the largest entry. */
  unsigned long long head;  /* end of the last complete entry */
  unsigned long long begun; /* other than head while an entry is being written */
  unsigned long long lost;  /* since the last entry: the ring was full */
  unsigned long long lost_since_ns;
  unsigned long long all_lost;
  unsigned long long nested_seen; /* of a second program: how often it stood in for the first one */
  unsigned long long claim;       /* of rings of calls: by whom (calls.bpf.c); 0: by nobody */
  unsigned long long unused;
  /* Written by who reads. */
  unsigned long long tail; /* what is before it may be overwritten */
  unsigned long long unused_too[7];
  unsigned char data[];
};

/* What is known of a slab cache, so that an event needs only its number. A slot is never used for another one. */
struct kmt_cache {
  unsigned long long pointer; /* of the struct kmem_cache; 0: unused */
  unsigned int generation;    /* when it was last looked at; caches may have gone since */
  unsigned int size;
  unsigned int object_size;
  unsigned int flags;
  char name[KMT_RECORDED_NAME_BYTES];
};

enum kmt_recording { KMT_RECORDING_BEGINS, KMT_RECORDING_RUNS, KMT_RECORDING_IS_OVER };

/* What a program takes of its event. */
struct kmt_taken {
  unsigned char arguments; /* the first so many */
  signed char cache;       /* the argument that is a struct kmem_cache *: its number is taken instead */
  unsigned char ring;
  unsigned char table;       /* of caches */
  unsigned char nested_ring; /* the same of the second program */
  unsigned char nested_table;
  unsigned char is_recorded; /* else only looked at for caches that go */
  unsigned char is_free;     /* those of the recorder are kept: they free what belongs to others */
};

/* The cookie of an attached program that takes the kernel's own records. `of_all`: whoever does it, it may be done to
   those that are selected. */
#define KMT_COOKIE(event, words, is_free, of_all) ((event) | (words) << 8 | (is_free) << 16 | (of_all) << 17)
