// SPDX-License-Identifier: GPL-2.0-or-later
// A value that changes by deltas, over a time whose length is not known beforehand, in memory that is. All series of an
// analysis share one clock of buckets, which become twice as wide whenever the time does not fit; a series notices that
// the next time it is touched, and keeps only buckets in which something happened.
//
// All sums are the same in whatever order the events come: that is why there is no maximum within a bucket. They are
// taken modulo 2^64, because the sizes are those of the trace, which may say anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/series/time_series.hpp"

namespace kmt {

// A bucket as wide as 2^shift ns.
struct TimeBucket {
  std::uint32_t index = 0;
  std::uint32_t shift = 0;
  bool operator==(const TimeBucket&) const = default;
};

class TimeBuckets {
 public:
  static constexpr std::uint32_t kMostBuckets = 512;
  static constexpr std::uint32_t kFirstShift = 10;  // about a microsecond

  // Fewer from now on, at most.
  void limit(std::uint32_t most);

  explicit TimeBuckets(std::uint64_t start_ns) : start_ns_(start_ns) {}

  // The bucket of that time, which is part of the clock from then on. Times before the start are in the first bucket.
  TimeBucket bucket_of(std::uint64_t time_ns) {
    const std::uint64_t offset = time_ns > start_ns_ ? time_ns - start_ns_ : 0;
    if (offset > last_offset_) extend(offset);
    return {static_cast<std::uint32_t>(offset >> shift_), shift_};
  }

  std::uint64_t start_ns() const { return start_ns_; }
  std::uint64_t end_ns() const { return start_ns_ + last_offset_; }  // the latest time
  std::uint64_t width_ns() const { return std::uint64_t{1} << shift_; }
  std::uint32_t shift() const { return shift_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(last_offset_ >> shift_) + 1; }

 private:
  void extend(std::uint64_t offset);

  std::uint64_t start_ns_;
  std::uint64_t last_offset_ = 0;
  std::uint32_t shift_ = kFirstShift;
  std::uint32_t most_ = kMostBuckets;
};

// Live and allocated bytes of one group. All buckets are of one clock.
class TimeSeries {
 public:
  void allocate(TimeBucket at, std::uint64_t bytes) {
    Entry& entry = entry_of(at);
    entry.net += bytes;
    entry.bytes_allocated += bytes;
    ++entry.allocations;
  }
  void release(TimeBucket at, std::uint64_t bytes) { entry_of(at).net -= bytes; }

  // Gives back the memory of buckets that are narrower than the clock's.
  void shrink_to(const TimeBuckets& clock);

  // One point a bucket of the clock, which has seen all times of the series.
  std::vector<TimeSeriesPoint> points(const TimeBuckets& clock) const;

 private:
  struct Entry {
    std::uint64_t net;  // change of live bytes, modulo 2^64
    std::uint64_t bytes_allocated;
    std::uint64_t bucket : 16;
    std::uint64_t allocations : 48;
  };
  static_assert(sizeof(Entry) == 24 && TimeBuckets::kMostBuckets <= 1u << 16);

  Entry& entry_of(TimeBucket at) {
    if (at == last_ && !entries_.empty()) return entries_.back();
    return find_entry(at);
  }
  Entry& find_entry(TimeBucket at);
  void fold(std::uint32_t shift);

  std::vector<Entry> entries_;  // by bucket
  TimeBucket last_;             // of the last entry; its shift is that of all
};

}  // namespace kmt
