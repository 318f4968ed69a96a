// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/lifetimes.hpp"

namespace kmt {

void Lifetimes::cover(unsigned bucket) {
  if (counts_.empty()) first_ = bucket;
  if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + std::size_t{1});
}

void Lifetimes::add(const Lifetimes& other) {
  if (other.count_ == 0) return;
  count_ += other.count_;
  sum_ += other.sum_;
  short_ += other.short_;
  const auto last = other.first_ + static_cast<unsigned>(other.counts_.size()) - 1;
  cover(other.first_);
  cover(last);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[other.first_ - first_ + i] += other.counts_[i];
}

std::uint64_t Lifetimes::percentile_ns(unsigned percent) const {
  Wide scaled = Wide{count_} * percent;
  scaled += 99;
  const auto rank = static_cast<std::uint64_t>(scaled / 100);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank && seen > 0) return start_of(first_ + static_cast<unsigned>(i) + 1) - 1;
  }
  return 0;
}

std::vector<Lifetimes::Bucket> Lifetimes::buckets() const {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const unsigned bucket = first_ + static_cast<unsigned>(i);
    buckets.push_back({start_of(bucket), start_of(bucket + 1), counts_[i]});
  }
  return buckets;
}

}  // namespace kmt
