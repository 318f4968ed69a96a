/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions shared by calls.bpf.c, its loader and its reader: the traced functions, the values read at their entry,
   and the entries in rings (records.h). */
#pragma once

enum {
  KMT_CALL_RINGS = 4, /* rings of a CPU: one each for tasks, softirqs and hardirqs, and one spare */
  KMT_CALL_ARGUMENTS = 6,
  KMT_CALL_WORDS = 1 + KMT_CALL_ARGUMENTS, /* number of words in KMT_ENTRY_CALL before the values */
  KMT_RETURN_WORDS = 3,                    /* number of words in KMT_ENTRY_RETURN before the values */
  KMT_MOST_VALUES = 16,                    /* maximum number of values of a function */
  KMT_MOST_STEPS = 10,                     /* maximum number of steps to read a value */
  KMT_STRING_BYTES = 255,                  /* maximum length of a recorded string */
  KMT_VALUES_BYTES = 1024,                 /* after this many bytes, no further values of a call are read */
  KMT_LATE_BYTES = 4 + KMT_STRING_BYTES,   /* size of a string read at the exit */
  KMT_MOST_VALUES_BYTES = KMT_VALUES_BYTES + 2 + KMT_STRING_BYTES,
  KMT_NOT_READ = 0xffff,  /* stored as the size of a value that could not be read */
  KMT_MOST_OPEN = 64,     /* maximum number of open traced calls of a task */
  KMT_MOST_TASKS = 65536, /* maximum number of tasks with traced calls; includes tasks whose calls have all ended */
};

/* An entry KMT_ENTRY_CALL consists of the word KMT_CALL_WHAT, the argument registers, and the values in the form of
   docs/formats/kmt.md, padded to whole words. An entry KMT_ENTRY_RETURN consists of KMT_CALL_WHAT, the start time of
   the call, the result register, and the values read at the exit. */
#define KMT_CALL_WHAT(function, depth, values_bytes) \
  ((unsigned long long)(function) | (unsigned long long)(depth) << 32 | (unsigned long long)(values_bytes) << 48)

/* The cookie of an attached program: the function's number, and `levels`. `levels` is KMT_LEVEL_HARDIRQ if the function
   itself changes the kernel's count of nested hardirqs; otherwise it is 0. */
#define KMT_CALL_COOKIE(function, levels) ((unsigned long long)(function) | (unsigned long long)(levels) << 32)
#define KMT_LEVEL_HARDIRQ 2

/* An element of the table of functions, whose index is the number of the function. */
struct kmt_function {
  unsigned int first_value; /* index in the table of values */
  unsigned int values;
};

/* How to read a value (trace/calls/value_path.hpp). */
struct kmt_value {
  unsigned char argument; /* KMT_CALL_ARGUMENTS means the stack pointer, which trampolines do not have */
  unsigned char steps;
  unsigned char is_string;
  unsigned char is_user; /* the string is in user memory, regardless of its address */
  unsigned int bytes;
  unsigned short counted_by;          /* 1 + the index of the argument with the string's maximum length; 0 if none */
  unsigned short counter_unused_bits; /* number of upper bits of that argument to ignore */
  unsigned int offsets[KMT_MOST_STEPS];
};
