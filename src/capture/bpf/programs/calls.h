/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by calls.bpf.c, its loader and its reader: the traced functions, the values read at their entry,
   and the entries in rings (records.h). */
#pragma once

enum {
  KMT_CALL_RINGS = 4, /* of a CPU: a task, soft and hard interrupts on top of it, and one more */
  KMT_CALL_ARGUMENTS = 6,
  KMT_CALL_WORDS = 1 + KMT_CALL_ARGUMENTS, /* of KMT_ENTRY_CALL, before the values */
  KMT_RETURN_WORDS = 3,                    /* of KMT_ENTRY_RETURN */
  KMT_MOST_VALUES = 16,                    /* of a function */
  KMT_MOST_STEPS = 10,                     /* of a value */
  KMT_STRING_BYTES = 255,                  /* kept of a string */
  KMT_VALUES_BYTES = 1024,                 /* of a call: values starting after it are not read */
  KMT_LATE_BYTES = 4 + KMT_STRING_BYTES,   /* of a string read when the call ends */
  KMT_MOST_VALUES_BYTES = KMT_VALUES_BYTES + 2 + KMT_STRING_BYTES,
  KMT_NOT_READ = 0xffff,  /* in place of the size of a value */
  KMT_MOST_OPEN = 64,     /* traced calls of a task */
  KMT_MOST_TASKS = 65536, /* in traced calls, now or earlier */
};

/* The words of KMT_ENTRY_CALL: KMT_CALL_WHAT; argument registers; values as in docs/formats/kmt.md, padded to whole
   words. Those of KMT_ENTRY_RETURN: KMT_CALL_WHAT; start time of the call; the result's register; values read late. */
#define KMT_CALL_WHAT(function, depth, values_bytes) \
  ((unsigned long long)(function) | (unsigned long long)(depth) << 32 | (unsigned long long)(values_bytes) << 48)

/* The cookie of an attached program: its function's number, and the interrupt level that the function itself counts. */
#define KMT_CALL_COOKIE(function, levels) ((unsigned long long)(function) | (unsigned long long)(levels) << 32)
#define KMT_LEVEL_HARDIRQ 2

/* By number. */
struct kmt_function {
  unsigned int first_value; /* of the table of values */
  unsigned int values;
};

/* How to read a value: trace/calls/value_path.hpp. */
struct kmt_value {
  unsigned char argument; /* KMT_CALL_ARGUMENTS: the stack pointer, which trampolines do not have */
  unsigned char steps;
  unsigned char is_string;
  unsigned char is_user; /* of a string: in user memory, whatever the address looks like */
  unsigned int bytes;
  unsigned short counted_by;          /* of a string: 1 + the argument with its greatest length; 0: none */
  unsigned short counter_unused_bits; /* the upper ones of that argument */
  unsigned int offsets[KMT_MOST_STEPS];
};
