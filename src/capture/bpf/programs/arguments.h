/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The indices of tracepoints' arguments, which differ between kernels, for BPF programs and their loaders. */
#pragma once

#define KMT_NO_ARGUMENT (-1)
#define KMT_MOST_ARGUMENTS 10 /* that are looked at: percpu_alloc_percpu has as many */

struct kmt_arguments {
  signed char call_site;
  signed char pointer; /* of the object or page; NULL: it failed */
  signed char cache;   /* struct kmem_cache * */
  signed char requested;
  signed char allocated;
  signed char order;
  signed char failed; /* not 0: the allocation failed */
  signed char migratetype;
};
