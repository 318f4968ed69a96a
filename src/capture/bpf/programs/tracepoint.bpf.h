// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the arguments of a raw tracepoint. Their indices are known at load time. Typed programs (tp_btf) could read
// structures directly, but kernels before 6.18 refuse arguments of type `const void *`.
#pragma once

#include "capture/bpf/programs/arguments.h"
#include "capture/bpf/programs/kernel_types.bpf.h"
#include "capture/bpf/programs/slab_cache.bpf.h"

// The verifier allows only constant offsets into the context, but clang would merge all cases and compute the offset.
// The assembly prevents this. `place` is a constant for the verifier, so the verifier removes all cases except one.
#define KMT_READ_ARGUMENT(number)                                                                     \
  case number:                                                                                        \
    asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value) : "r"(context), "i"((number) * sizeof(u64))); \
    return value;

static __always_inline u64 argument(const u64* context, s8 place) {
  u64 value;
  switch (place) {
    KMT_READ_ARGUMENT(0)
    KMT_READ_ARGUMENT(1)
    KMT_READ_ARGUMENT(2)
    KMT_READ_ARGUMENT(3)
    KMT_READ_ARGUMENT(4)
    KMT_READ_ARGUMENT(5)
    KMT_READ_ARGUMENT(6)
    KMT_READ_ARGUMENT(7)
    KMT_READ_ARGUMENT(8)
    KMT_READ_ARGUMENT(9)
  }
  return 0;
}

// The requested and allocated bytes, computed from the tracepoint's arguments.
struct amount {
  u64 requested;
  u64 allocated;
};

static __always_inline struct amount amount_of(const u64* context, const volatile struct kmt_arguments* places,
                                               u64 page_size) {
  struct amount amount = {};
  if (places->requested >= 0) {
    amount.requested = argument(context, places->requested);
    amount.allocated = places->allocated >= 0 ? argument(context, places->allocated) : amount.requested;
  } else if (places->cache >= 0) {
    const struct cache_sizes sizes = sizes_of((const struct kmem_cache*)argument(context, places->cache));
    amount.requested = sizes.object_size;
    amount.allocated = sizes.size;
  } else if (places->order >= 0) {
    amount.requested = amount.allocated = page_size << (argument(context, places->order) & 63);
  }
  return amount;
}

static __always_inline bool failed(const u64* context, const volatile struct kmt_arguments* places) {
  if (places->failed >= 0) return (u32)argument(context, places->failed) != 0;
  return places->pointer >= 0 && argument(context, places->pointer) == 0;
}
