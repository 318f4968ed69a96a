/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The indices of tracepoints' arguments, for BPF programs and their loaders. The indices differ between kernels. */
#pragma once

#define KMT_NO_ARGUMENT (-1)
#define KMT_MOST_ARGUMENTS 10 /* maximum number of arguments that are read (those of percpu_alloc_percpu) */

struct kmt_arguments {
  signed char call_site;
  signed char pointer; /* object or page; NULL if the allocation failed */
  signed char cache;   /* struct kmem_cache * */
  signed char requested;
  signed char allocated;
  signed char order;
  signed char failed; /* argument whose value is not 0 if the allocation failed */
  signed char migratetype;
};
