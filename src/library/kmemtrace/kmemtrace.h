/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C interface of libkmemtrace, for programs in other languages. The Python package kmemtrace uses it.
 *
 *   kmt_error *error = NULL;
 *   char *json = kmt_report_json("trace.kmt", NULL, &error);
 *   if (json == NULL) fprintf(stderr, "%s\n", kmt_error_message(error));
 *   kmt_free(json);
 *   kmt_error_free(error);
 *
 * All text is UTF-8, except file names and names from a trace, which may be any bytes. A function that can fail takes
 * the address of a pointer to an error, or NULL. On failure, the function stores a new error there, which the caller
 * frees. If it stores NULL after a failure, there was not enough memory. Only one thread at a time may use an object;
 * different threads may use different objects.
 *
 * KMT_ABI_VERSION increases if a function or a structure changes its meaning or is removed. New functions, new kinds
 * of events, and new members at the end of a structure with the member `size` do not increase it.
 *
 * The caller sets `size`. The library fills in only the members within it. In kmt_machine and kmt_columns, it then sets
 * `size` to the number of bytes that it filled in, which is less if the library is older than the header. */
#ifndef KMEMTRACE_KMEMTRACE_H
#define KMEMTRACE_KMEMTRACE_H

#include <stddef.h>
#include <stdint.h>

#define KMT_ABI_VERSION 1
#define KMT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

KMT_API int kmt_abi_version(void);     /* KMT_ABI_VERSION of the library in use */
KMT_API const char *kmt_version(void); /* version of kmemtrace: "0.1.0" */

/* Frees a string that a function of this header returned as `char *`. */
KMT_API void kmt_free(char *text);

/* ---- Errors ---- */

typedef struct kmt_error kmt_error;

/* The strings are valid until the error is freed. `error` may be NULL; the message is then "Out of memory". */
KMT_API const char *kmt_error_message(const kmt_error *error);
KMT_API const char *kmt_error_file(const kmt_error *error);    /* NULL if the error is not about a file */
KMT_API int64_t kmt_error_offset(const kmt_error *error);      /* bytes from the start of the file; -1: unknown */
KMT_API const char *kmt_error_hint(const kmt_error *error);    /* advice; NULL if there is none */
KMT_API void kmt_error_free(kmt_error *error);

/* ---- Results as JSON ---- */

typedef struct kmt_options {
  size_t size;                  /* sizeof(kmt_options) */
  const char *by;               /* grouping keys, separated by commas; NULL: the default of the command */
  const char *sort;             /* key of the column to sort by; NULL: the default of the command */
  uint64_t limit;               /* maximum number of groups of each table; 0: all */
  const char *kallsyms;         /* file with kernel symbols, used if the trace has none; NULL: no file */
  double threshold_bytes_per_s; /* kmt_leaks_json() reports only faster growth; >= 0; 0: the default of the command */
} kmt_options;

/* Return the JSON that the commands `kmemtrace report` and `kmemtrace leaks` print with --json, or NULL on failure.
 * They read the whole trace. `options` may be NULL; the limit is then 0. The caller frees the text with kmt_free(). */
KMT_API char *kmt_report_json(const char *path, const kmt_options *options, kmt_error **error);
KMT_API char *kmt_leaks_json(const char *path, const kmt_options *options, kmt_error **error);
/* Returns the JSON that `kmemtrace snapshot FILE` prints with --json, for a file with snapshots, a kernel log, or a folder
 * or an archive with copies of kernel files. Uses only the limit of the options. */
KMT_API char *kmt_snapshot_json(const char *path, const kmt_options *options, kmt_error **error);

/* ---- Events ---- */

typedef struct kmt_trace kmt_trace;

/* Opens a trace: a file, or a folder. Its content determines the format. Returns NULL on failure. */
KMT_API kmt_trace *kmt_open(const char *path, kmt_error **error);
KMT_API void kmt_close(kmt_trace *trace); /* `trace` may be NULL */

/* Facts about the traced machine. The strings are valid until kmt_close(). */
typedef struct kmt_machine {
  size_t size;            /* set by the caller to sizeof(kmt_machine) */
  const char *format;     /* format of the file: "trace.dat version 7" */
  const char *kernel;     /* kernel release; this and other texts are empty if the trace does not contain them */
  const char *arch;       /* as printed by `uname -m` */
  const char *clock;      /* ftrace clock of all times */
  uint64_t page_size;     /* in bytes; 0: unknown */
  uint32_t cpus;
  uint32_t word_bits;     /* word size of the kernel: 32 or 64 */
  uint32_t little_endian; /* 1 or 0 */
  uint32_t clock_in_ns;   /* 1 if times are in nanoseconds; 0 if they are ticks of another length */
} kmt_machine;
KMT_API void kmt_get_machine(const kmt_trace *trace, kmt_machine *machine);

enum kmt_context { KMT_CONTEXT_TASK, KMT_CONTEXT_SOFTIRQ, KMT_CONTEXT_HARDIRQ, KMT_CONTEXT_NMI };

/* Consecutive events, one element of each array for each event. A value that does not exist for the kind of an event
 * is 0, except for the values documented below. The library owns the arrays. They are valid until the next
 * kmt_read() or kmt_close(). */
typedef struct kmt_columns {
  size_t size;                     /* set by the caller to sizeof(kmt_columns) */
  size_t events;                   /* number of events, and of elements in each array */
  const uint64_t *time_ns;         /* time on the clock of the trace, in nanoseconds */
  /* Start of the allocated or freed memory; for pages, the first page frame number. The address of a failed allocation
   * is 0, or UINT64_MAX for pages. */
  const uint64_t *address;
  const uint64_t *bytes_requested; /* bytes requested by the caller */
  const uint64_t *bytes_allocated; /* bytes allocated by the kernel */
  const uint64_t *call_site;       /* address of the code that requested or freed the memory */
  const uint32_t *gfp_flags;
  const int32_t *tid;              /* thread ID of the running or interrupted task */
  const uint32_t *cpu;
  const uint32_t *name;            /* number for kmt_event_name() */
  const uint32_t *cache;           /* number for kmt_cache_name(); 0: the event names no cache */
  const uint32_t *stack;           /* number for kmt_stack(); 0: no stack */
  const int16_t *node;             /* requested NUMA node; -1: none */
  const int8_t *migrate_type;      /* migrate type of pages; -1: unknown */
  const uint8_t *order;            /* an allocation of pages has 2^order pages */
  const uint8_t *kind;             /* number for kmt_kind_name() */
  const uint8_t *context;          /* enum kmt_context */
} kmt_columns;

/* Reads the next events, in order of time. Returns 1 if there are any, 0 at the end, and -1 on failure. Damage in the
 * trace is no failure: the results of kmt_report_json() state it. It is a failure if columns->size is too small for the
 * member `events`. */
KMT_API int kmt_read(kmt_trace *trace, kmt_columns *columns, kmt_error **error);
/* Returns the number of events known to be lost so far. The number is final after kmt_read() returned 0. */
KMT_API uint64_t kmt_lost_events(const kmt_trace *trace);

/* Return the names of numbers in columns. The strings and arrays are valid until the next kmt_read() or kmt_close().
 * For an unknown number, kmt_stack() returns 0, and the other functions return "". */
KMT_API const char *kmt_kind_name(uint8_t kind);                           /* such as "page_alloc"; never freed */
KMT_API const char *kmt_event_name(const kmt_trace *trace, uint32_t name); /* such as "mm_page_alloc" */
KMT_API const char *kmt_cache_name(const kmt_trace *trace, uint32_t cache);
/* Stores the return addresses in the kernel, innermost first, and returns their number. */
KMT_API size_t kmt_stack(const kmt_trace *trace, uint32_t stack, const uint64_t **frames);

/* kmt_symbol() returns a name such as "__d_alloc+0x29", or the address in hex if no symbol is known. kmt_task_name()
 * returns the name of a task at a time, according to the events read so far. The caller frees the text with kmt_free().
 * Both return NULL on failure. */
KMT_API char *kmt_symbol(const kmt_trace *trace, uint64_t address, kmt_error **error);
KMT_API char *kmt_task_name(const kmt_trace *trace, int32_t tid, uint64_t time_ns, kmt_error **error);

#ifdef __cplusplus
}
#endif

#endif
