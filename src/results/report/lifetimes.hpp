// SPDX-License-Identifier: GPL-2.0-or-later
// A histogram of the lifetimes of allocations. Each power of two is divided into four buckets. A percentile computed
// from them is therefore at most 25 % too high. A histogram over a wider range of lifetimes needs more memory; the
// number of allocations does not matter.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/arithmetic/wide.hpp"

namespace kmt {

class Lifetimes {
 public:
  struct Bucket {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;  // exclusive
    std::uint64_t count = 0;
  };

  void add(std::uint64_t lifetime_ns) {
    ++count_;
    sum_ += lifetime_ns;
    if (lifetime_ns < kShortNs) ++short_;
    const unsigned bucket = bucket_of(lifetime_ns);
    if (bucket - first_ >= counts_.size()) cover(bucket);
    ++counts_[bucket - first_];
  }
  void add(const Lifetimes& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t under_1ms() const { return short_; }
  std::uint64_t mean_ns() const { return count_ == 0 ? 0 : static_cast<std::uint64_t>(sum_ / count_); }
  // Returns a percentile of the lifetimes, rounded up to the end of a bucket; 0 if there are no lifetimes.
  std::uint64_t percentile_ns(unsigned percent) const;
  // Returns the buckets from the first to the last one that contains a lifetime, including empty buckets in between.
  std::vector<Bucket> buckets() const;

  // Returns the number of the bucket that contains this lifetime. Buckets 0 to 3 contain lifetimes of 0 to 3 ns; each
  // further power of two has four buckets.
  static unsigned bucket_of(std::uint64_t ns) {
    if (ns < 4) return static_cast<unsigned>(ns);
    const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
    return 4 * (octave - 1) + static_cast<unsigned>((ns >> (octave - 2)) & 3);
  }
  static std::uint64_t start_of(unsigned bucket) {
    if (bucket < 4) return bucket;
    if (bucket >= kBuckets) return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{4 + bucket % 4} << (bucket / 4 - 1);
  }

 private:
  static constexpr std::uint64_t kShortNs = 1'000'000;
  static constexpr unsigned kBuckets = 4 * 63;
  void cover(unsigned bucket);

  Wide sum_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t short_ = 0;
  unsigned first_ = 0;  // number of the bucket that counts_[0] counts
  std::vector<std::uint64_t> counts_;
};

}  // namespace kmt
