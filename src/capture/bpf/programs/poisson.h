/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples allocations by bytes. The sampling points are a Poisson process along the allocated bytes, one per `mean`
   bytes on average. An allocation of s bytes is sampled with probability 1 - exp(-s / mean), independent of earlier
   allocations. Uses integers only, for the kernel. Unit tests run the same code. */
#pragma once

enum {
  KMT_LOG2_STEPS = 256,
  KMT_LOG2_FRACTION = 24 /* bits */
};
#define KMT_LN2 11629080ull              /* ln(2) with the same number of fraction bits */
#define KMT_MOST_MEAN_BYTES (1ull << 34) /* a larger mean would overflow */

/* Returns the distance in bytes to the next point, which is exponentially distributed: -ln(u) * mean for a random
   32-bit number u. log2[i] is the logarithm of 1 + i/256, for i from 0 to 256. */
static inline __attribute__((always_inline)) unsigned long long kmt_bytes_to_next_sample(
    unsigned int random, unsigned long long mean, const volatile unsigned int* log2) {
  unsigned int u = random | 1;
  unsigned int shift = 0;
  if (!(u >> 16)) u <<= 16, shift += 16;
  if (!(u >> 24)) u <<= 8, shift += 8;
  if (!(u >> 28)) u <<= 4, shift += 4;
  if (!(u >> 30)) u <<= 2, shift += 2;
  if (!(u >> 31)) u <<= 1, shift += 1;
  const unsigned int step = u >> 23 & (KMT_LOG2_STEPS - 1);
  const unsigned long long rest = u & ((1u << 23) - 1);
  const unsigned long long low = log2[step];
  const unsigned long long high = log2[step + 1];
  const unsigned long long log2_u = ((31ull - shift) << KMT_LOG2_FRACTION) + low + ((high - low) * rest >> 23);
  const unsigned long long minus_log2 = (32ull << KMT_LOG2_FRACTION) - log2_u;
  const unsigned long long minus_ln = minus_log2 * KMT_LN2 >> KMT_LOG2_FRACTION;
  return minus_ln * mean >> KMT_LOG2_FRACTION;
}

struct kmt_sampler {
  long long bytes_left; /* number of bytes until the next sample; 0: no distance was drawn yet */
};

/* True if an allocation of this many bytes is sampled. `random` returns 32 bits from `state`. */
static inline __attribute__((always_inline)) int kmt_is_sampled(struct kmt_sampler* sampler, unsigned long long bytes,
                                                                unsigned long long mean,
                                                                const volatile unsigned int* log2,
                                                                unsigned int (*random)(void*), void* state) {
  if (sampler->bytes_left == 0)
    sampler->bytes_left = 1 + (long long)kmt_bytes_to_next_sample(random(state), mean, log2);
  sampler->bytes_left -= (long long)bytes;
  if (sampler->bytes_left > 0) return 0;
  /* A Poisson process has no memory, so the distance is drawn again after this allocation. */
  sampler->bytes_left = 1 + (long long)kmt_bytes_to_next_sample(random(state), mean, log2);
  return 1;
}
