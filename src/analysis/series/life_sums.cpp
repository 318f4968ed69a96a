// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/life_sums.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kmt {

namespace {

constexpr unsigned kBucketBits = std::bit_width(TimeBuckets::kMostBuckets - 1);

struct Life {
  std::uint32_t group;
  std::uint32_t began;
  std::uint32_t ended;
};

// Returns a number that sorts by group, then by buckets.
std::uint64_t key_of(const Life& life) {
  return (std::uint64_t{life.group} << (2 * kBucketBits)) | (std::uint64_t{life.began} << kBucketBits) | life.ended;
}

Life life_of(std::uint64_t key) {
  constexpr std::uint64_t kBucket = (std::uint64_t{1} << kBucketBits) - 1;
  return {static_cast<std::uint32_t>(key >> (2 * kBucketBits)),
          static_cast<std::uint32_t>((key >> kBucketBits) & kBucket), static_cast<std::uint32_t>(key & kBucket)};
}

}  // namespace

void LifeSums::add(std::uint32_t group, std::uint64_t bytes, std::uint64_t began_ns, std::uint64_t ended_ns) {
  const TimeBucket ended = clock_.bucket_of(ended_ns);
  if (ended.shift != shift_) widen(ended.shift);
  const std::uint32_t began = clock_.bucket_of(std::min(began_ns, ended_ns)).index;
  if (began >= ended.index) return;
  *bytes_.insert(key_of({group, began, ended.index})).first += bytes;
  while (bytes_.size() > most_entries_ && clock_.count() > 1) {
    clock_.limit(std::max(clock_.count() / 2, 1u));
    widen(clock_.shift());
  }
}

void LifeSums::widen(std::uint32_t shift) {
  if (shift == shift_) return;
  FlatMap<std::uint64_t> wide;
  bytes_.for_each([&](std::uint64_t key, std::uint64_t bytes) {
    const Life life = life_of(key);
    const Life widened{life.group, kmt::widened(life.began, shift - shift_), kmt::widened(life.ended, shift - shift_)};
    if (widened.began != widened.ended) *wide.insert(key_of(widened)).first += bytes;
  });
  bytes_ = std::move(wide);
  shift_ = shift;
}

std::vector<GroupLife> LifeSums::take(std::uint32_t shift) {
  widen(shift);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
  entries.reserve(bytes_.size());
  bytes_.for_each([&](std::uint64_t key, std::uint64_t bytes) { entries.emplace_back(key, bytes); });
  bytes_ = {};
  std::ranges::sort(entries);
  std::vector<GroupLife> lives;
  lives.reserve(entries.size());
  for (const auto& [key, bytes] : entries) {
    const Life life = life_of(key);
    lives.push_back({life.group, {life.began, life.ended, bytes}});
  }
  return lives;
}

}  // namespace kmt
