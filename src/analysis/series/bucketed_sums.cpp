// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/bucketed_sums.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kmt {

namespace {

bool is_zero(const TrafficCounts& counts) {
  return (counts.allocations | counts.requested | counts.allocated | counts.frees | counts.freed | counts.replacements |
          counts.replaced) == 0;
}

bool by_bucket(const Traffic& a, const Traffic& b) { return std::tie(a.bucket, a.id) < std::tie(b.bucket, b.id); }
bool by_id(const Traffic& a, const Traffic& b) { return std::tie(a.id, a.bucket) < std::tie(b.id, b.bucket); }

// Merges adjacent entries that have the same ID and bucket.
void merge(std::vector<Traffic>& entries) {
  std::size_t kept = 0;
  for (const Traffic& entry : entries) {
    if (kept > 0 && entries[kept - 1].id == entry.id && entries[kept - 1].bucket == entry.bucket)
      entries[kept - 1].counts += entry.counts;
    else
      entries[kept++] = entry;
  }
  entries.resize(kept);
}

}  // namespace

void BucketedSums::begin(TimeBucket bucket) {
  for (const std::uint32_t id : touched_) {
    Current& current = counts_[id];
    if (!is_zero(current.counts)) entries_.push_back({id, current_.index, current.counts});
    current = {};
  }
  touched_.clear();
  if (bucket.shift != current_.shift) fold(bucket.shift);
  while (entries_.size() > most_entries_ && clock_.count() > 1) {
    const std::uint32_t before = clock_.shift();
    clock_.limit(std::max(clock_.count() / 2, 1u));
    if (clock_.shift() == before) break;
    fold(clock_.shift());
  }
  current_ = clock_.bucket_of(clock_.end_ns());
}

void BucketedSums::fold(std::uint32_t shift) {
  const std::uint32_t by = shift - current_.shift;
  current_.shift = shift;
  for (Traffic& entry : entries_) entry.bucket = by < 32 ? entry.bucket >> by : 0;
  std::ranges::sort(entries_, by_bucket);
  merge(entries_);
}

std::vector<Traffic> BucketedSums::take(std::uint32_t shift) {
  if (shift != current_.shift) fold(shift);
  std::ranges::sort(entries_, by_id);
  merge(entries_);
  return std::exchange(entries_, {});
}

}  // namespace kmt
