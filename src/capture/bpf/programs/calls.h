/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls.bpf.c and who loads and reads it share: which functions are traced and what is read when they are entered,
   and what their entries in rings (records.h) are. */
#pragma once

enum {
  KMT_CALL_RINGS = 4, /* of a CPU: a task, soft and hard interrupts on top of it, and one more */
  KMT_CALL_ARGUMENTS = 6,
  KMT_CALL_WORDS = 1 + KMT_CALL_ARGUMENTS, /* of KMT_ENTRY_CALL, in front of the values */
  KMT_RETURN_WORDS = 3,                    /* of KMT_ENTRY_RETURN */
  KMT_MOST_VALUES = 16,                    /* of a function */
  KMT_MOST_STEPS = 10,                     /* of a value */
  KMT_STRING_BYTES = 255,                  /* that are kept of a string */
  KMT_VALUES_BYTES = 1024,                 /* of a call: what begins behind it is not read */
  KMT_LATE_BYTES = 4 + KMT_STRING_BYTES,   /* of a string that is read when the call ends */
  KMT_MOST_VALUES_BYTES = KMT_VALUES_BYTES + 2 + KMT_STRING_BYTES,
  KMT_NOT_READ = 0xffff,  /* in place of the size of a value */
  KMT_MOST_OPEN = 64,     /* traced calls of a task */
  KMT_MOST_TASKS = 65536, /* that are in traced calls, or were */
};

/* The words of KMT_ENTRY_CALL: KMT_CALL_WHAT; argument registers; values as docs/formats/kmt.md has them, filled up to
   whole words. Of KMT_ENTRY_RETURN: KMT_CALL_WHAT; when the call began; the register of the result; then as there what
   was read late. */
#define KMT_CALL_WHAT(function, depth, values_bytes) \
  ((unsigned long long)(function) | (unsigned long long)(depth) << 32 | (unsigned long long)(values_bytes) << 48)

/* Of an attached program: the number of its function, and which of the levels of interrupts that counts itself. */
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
  unsigned short counted_by; /* of a string: 1 + the argument that tells how long it may be at most; 0: none does */
  unsigned short counter_unused_bits; /* the upper ones of that argument */
  unsigned int offsets[KMT_MOST_STEPS];
};
