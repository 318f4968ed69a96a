// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/time_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace kmt {
namespace {

constexpr std::uint64_t kStart = 5'000;
constexpr std::uint64_t kFirstWidth = std::uint64_t{1} << TimeBuckets::kFirstShift;

TEST(TimeBuckets, WidenWhenTheTimeDoesNotFit) {
  TimeBuckets clock(kStart);
  EXPECT_EQ(clock.count(), 1u);
  EXPECT_EQ(clock.bucket_of(kStart + 512 * kFirstWidth - 1), (TimeBucket{511, 10}));
  EXPECT_EQ(clock.width_ns(), kFirstWidth);
  EXPECT_EQ(clock.count(), 512u);
  EXPECT_EQ(clock.bucket_of(kStart + 512 * kFirstWidth), (TimeBucket{256, 11}));
  EXPECT_EQ(clock.count(), 257u);
  EXPECT_EQ(clock.end_ns(), kStart + 512 * kFirstWidth);
}

TEST(TimeBuckets, AcceptAnyTime) {
  TimeBuckets clock(kStart);
  EXPECT_EQ(clock.bucket_of(0), (TimeBucket{0, 10}));
  const TimeBucket last = clock.bucket_of(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(last.index, 511u);
  EXPECT_EQ(last.shift, 55u);
  EXPECT_EQ(clock.bucket_of(0), (TimeBucket{0, 55}));
  EXPECT_EQ(clock.count(), 512u);
}

TEST(TimeSeries, HasTheLiveBytesAtTheEndOfEachBucket) {
  TimeBuckets clock(kStart);
  TimeSeries series;
  series.allocate(clock.bucket_of(kStart), 100);
  series.allocate(clock.bucket_of(kStart + 1), 50);
  series.release(clock.bucket_of(kStart + 2), 100);
  series.release(clock.bucket_of(kStart + 2 * kFirstWidth), 50);
  series.allocate(clock.bucket_of(kStart + 3 * kFirstWidth), 7);
  const auto points = series.points(clock);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].live_bytes, 50);
  EXPECT_EQ(points[0].bytes_allocated, 150u);
  EXPECT_EQ(points[0].allocations, 2u);
  EXPECT_EQ(points[1].live_bytes, 50);
  EXPECT_EQ(points[1].allocations, 0u);
  EXPECT_EQ(points[2].live_bytes, 0);
  EXPECT_EQ(points[3].live_bytes, 7);
}

TEST(TimeSeries, AnEmptySeriesHasPoints) {
  TimeBuckets clock(kStart);
  (void)clock.bucket_of(kStart + 1'000'000'000);
  const auto points = TimeSeries().points(clock);
  ASSERT_EQ(points.size(), clock.count());
  EXPECT_EQ(points.back().live_bytes, 0);
}

TEST(TimeSeries, EarlierTimesCountInTheirBucket) {
  TimeBuckets clock(kStart);
  TimeSeries series;
  series.allocate(clock.bucket_of(kStart + 2 * kFirstWidth), 30);
  series.allocate(clock.bucket_of(kStart), 1);
  series.allocate(clock.bucket_of(0), 10);
  series.allocate(clock.bucket_of(kStart + 2 * kFirstWidth), 5);
  series.release(clock.bucket_of(kStart + kFirstWidth), 4);
  const auto points = series.points(clock);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].live_bytes, 11);
  EXPECT_EQ(points[1].live_bytes, 7);
  EXPECT_EQ(points[2].live_bytes, 42);
}

TEST(TimeSeries, BucketsFromBeforeAWideningStayValid) {
  TimeBuckets clock(kStart);
  TimeSeries series;
  const TimeBucket early = clock.bucket_of(kStart + 9 * kFirstWidth);
  series.allocate(clock.bucket_of(kStart + 2000 * kFirstWidth), 1);
  series.allocate(early, 2);
  EXPECT_EQ(series.points(clock)[2].live_bytes, 2);
  EXPECT_EQ(series.points(clock).back().live_bytes, 3);
}

struct Change {
  std::uint64_t time_ns;
  std::int64_t bytes;
};

// Returns random changes during 30 seconds, almost in order of time.
std::vector<Change> changes(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Change> made(count);
  std::uint64_t time_ns = kStart;
  for (Change& change : made) {
    time_ns += random() % (60'000'000'000 / count);
    const auto bytes = static_cast<std::int64_t>(8 + random() % 4096);
    change = {time_ns - random() % 3000, random() % 5 < 2 ? -bytes : bytes};
  }
  return made;
}

void apply(const Change& change, TimeBuckets& clock, TimeSeries& series) {
  if (change.bytes > 0)
    series.allocate(clock.bucket_of(change.time_ns), static_cast<std::uint64_t>(change.bytes));
  else
    series.release(clock.bucket_of(change.time_ns), static_cast<std::uint64_t>(-change.bytes));
}

TEST(TimeSeries, EqualsTheSumOfAllChanges) {
  const auto all = changes(20'000);
  TimeBuckets clock(kStart);
  TimeSeries series;
  for (const Change& change : all) apply(change, clock, series);
  const auto points = series.points(clock);
  ASSERT_GT(points.size(), 256u);
  ASSERT_LE(points.size(), 512u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    TimeSeriesPoint expected;
    const std::uint64_t begin = kStart + i * clock.width_ns();
    const std::uint64_t end = begin + clock.width_ns();
    for (const Change& change : all) {
      if (change.time_ns < end) expected.live_bytes += change.bytes;
      const bool within = change.time_ns < end && (change.time_ns >= begin || i == 0);
      if (!within || change.bytes < 0) continue;
      expected.bytes_allocated += static_cast<std::uint64_t>(change.bytes);
      ++expected.allocations;
    }
    ASSERT_EQ(points[i].live_bytes, expected.live_bytes) << i;
    ASSERT_EQ(points[i].bytes_allocated, expected.bytes_allocated) << i;
    ASSERT_EQ(points[i].allocations, expected.allocations) << i;
  }
}

TEST(TimeSeries, FewerBucketsHaveTheSameSums) {
  TimeBuckets clock(kStart);
  TimeSeries series;
  for (std::uint64_t i = 0; i < 500; ++i) series.allocate(clock.bucket_of(kStart + i * kFirstWidth), i);
  clock.limit(64);
  series.shrink_to(clock);
  EXPECT_EQ(clock.count(), 63u);
  series.allocate(clock.bucket_of(kStart + 500 * kFirstWidth), 500);
  const auto points = series.points(clock);
  EXPECT_EQ(points[0].live_bytes, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
  EXPECT_EQ(points.back().live_bytes, 500 * 501 / 2);
}

// The clock jumps far ahead. Buckets then become so wide that the first one contains all earlier events.
TEST(TimeSeries, SurvivesAJumpOfTheClock) {
  for (const unsigned jump : {42u, 45u, 50u, 63u}) {
    TimeBuckets clock(kStart);
    TimeSeries series;
    TimeSeries untouched;  // this series does not change after the jump, so only points() makes its buckets wider
    for (std::uint64_t i = 0; i < 500; ++i) {
      const TimeBucket at = clock.bucket_of(kStart + i * kFirstWidth);
      series.allocate(at, 3);
      untouched.allocate(at, 3);
    }
    series.allocate(clock.bucket_of(kStart + (std::uint64_t{1} << jump)), 4);
    const auto points = series.points(clock);
    ASSERT_EQ(points.size(), 257u) << jump;
    EXPECT_EQ(points[0].live_bytes, 1500) << jump;
    EXPECT_EQ(points[0].allocations, 500u) << jump;
    EXPECT_EQ(points[255].live_bytes, 1500) << jump;
    EXPECT_EQ(points[256].live_bytes, 1504) << jump;
    EXPECT_EQ(untouched.points(clock)[0].live_bytes, 1500) << jump;
    EXPECT_EQ(untouched.points(clock)[256].live_bytes, 1500) << jump;
  }
}

TEST(TimeSeries, AcceptsSizesWhoseSumOverflows) {
  TimeBuckets clock(kStart);
  TimeSeries series;
  for (std::uint64_t i = 0; i < 6; ++i) series.allocate(clock.bucket_of(kStart + i), std::uint64_t{1} << 62);
  for (std::uint64_t i = 0; i < 5; ++i)
    series.release(clock.bucket_of(kStart + 10 * kFirstWidth), std::uint64_t{1} << 62);
  EXPECT_EQ(series.points(clock).back().live_bytes, std::int64_t{1} << 62);
}

}  // namespace
}  // namespace kmt
