// SPDX-License-Identifier: GPL-2.0-or-later
// Compares sums by ID and time with a plain map of all events.
#include "analysis/series/bucketed_sums.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace kmt {
namespace {

constexpr std::uint64_t kStart = 1'000'000'007;

struct Added {
  std::uint32_t id;
  std::uint64_t time_ns;
  std::uint64_t bytes;
};

std::vector<Added> random_events(std::size_t count, std::uint32_t ids, std::uint64_t mean_step, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Added> events;
  std::uint64_t now = kStart;
  for (std::size_t i = 0; i < count; ++i) {
    now += random() % (2 * mean_step + 1);
    events.push_back({static_cast<std::uint32_t>(random() % ids), now, random() % 5000});
  }
  return events;
}

using Sums = std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint64_t, std::uint64_t>>;

Sums plain_sums(const std::vector<Added>& events, std::uint32_t shift) {
  Sums sums;
  for (const Added& event : events) {
    auto& [count, bytes] = sums[{event.id, (event.time_ns - kStart) >> shift}];
    ++count;
    bytes += event.bytes;
  }
  return sums;
}

Sums sums_of(BucketedSums& sums, std::uint32_t shift) {
  Sums found;
  for (const Traffic& entry : sums.take(shift))
    EXPECT_TRUE(found.try_emplace({entry.id, entry.bucket}, entry.counts.allocations, entry.counts.allocated).second);
  return found;
}

void add(const std::vector<Added>& events, BucketedSums& sums) {
  for (const Added& event : events) {
    TrafficCounts& counts = sums.at(event.id, event.time_ns);
    ++counts.allocations;
    counts.allocated += event.bytes;
  }
  sums.end(events.back().time_ns);
}

TEST(BucketedSums, AddUpForAnyBucketWidth) {
  for (const std::uint64_t step : {1u, 1000u, 1'000'000u}) {
    const std::vector<Added> events = random_events(20'000, 7, step, static_cast<unsigned>(step));
    for (const std::uint32_t wider : {0u, 1u, 3u, 33u}) {
      BucketedSums sums(kStart, 1'000'000);
      add(events, sums);
      EXPECT_LE(sums.clock().count(), TimeBuckets::kMostBuckets);
      const std::uint32_t shift = sums.shift() + wider;
      EXPECT_EQ(sums_of(sums, shift), plain_sums(events, shift)) << step << " " << wider;
    }
  }
}

TEST(BucketedSums, WidenIfThereAreTooManyEntries) {
  constexpr std::size_t kMost = 1000;
  const std::vector<Added> events = random_events(50'000, 100, 1000, 5);
  BucketedSums sums(kStart, kMost);
  add(events, sums);
  EXPECT_LE(sums.clock().count(), 2 * kMost / 100);
  EXPECT_GT(sums.clock().count(), 2u);
  const std::uint32_t shift = sums.shift();
  const Sums found = sums_of(sums, shift);
  EXPECT_EQ(found, plain_sums(events, shift));
}

TEST(BucketedSums, KeepAtLeastOneEntryPerId) {
  const std::vector<Added> events = random_events(5000, 1000, 1000, 6);
  BucketedSums sums(kStart, 10);
  add(events, sums);
  const std::uint32_t shift = sums.shift();
  EXPECT_EQ(sums_of(sums, shift), plain_sums(events, shift));
  EXPECT_EQ(sums.clock().count(), 1u);
}

TEST(BucketedSums, AnEarlierTimeCountsForTheCurrentBucket) {
  BucketedSums sums(kStart, 100);
  ++sums.at(1, kStart + 5'000'000).allocations;
  ++sums.at(1, kStart).allocations;
  sums.end(kStart + 5'000'000);
  const std::vector<Traffic> entries = sums.take(sums.shift());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].counts.allocations, 2u);
  EXPECT_EQ(entries[0].bucket, 5'000'000u >> sums.shift());
}

TEST(BucketedSums, SubtractedEventsLeaveNoEntry) {
  BucketedSums sums(kStart, 100);
  sums.at(3, kStart).allocated += 100;
  sums.at(3, kStart).allocated -= 100;
  sums.at(4, kStart).allocated -= 1;  // modulo 2^64
  sums.end(kStart);
  const std::vector<Traffic> entries = sums.take(sums.shift());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].id, 4u);
  EXPECT_EQ(entries[0].counts.allocated, ~std::uint64_t{0});
}

}  // namespace
}  // namespace kmt
