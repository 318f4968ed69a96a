/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which argument of a tracepoint is what, for BPF programs and who loads them: kernels differ. */
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
  signed char failed; /* what is not 0 says that it failed */
  signed char migratetype;
};
