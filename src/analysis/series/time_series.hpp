// SPDX-License-Identifier: GPL-2.0-or-later
// Stores a value that changes by deltas, in bounded memory over a time of unknown length. All series of an analysis
// share one clock, which divides the time into buckets. If the time no longer fits, all buckets become twice as wide.
// Each series adapts to wider buckets at its next change. A series stores only buckets with changes. The sums do not
// depend on the order of events; a maximum would, so buckets have none. Sums are modulo 2^64, because a damaged trace
// may contain any sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/series/time_series.hpp"

namespace kmt {

// A time interval of 2^shift ns. The first interval has index 0.
struct TimeBucket {
  std::uint32_t index = 0;
  std::uint32_t shift = 0;
  bool operator==(const TimeBucket&) const = default;
};

// Returns the index of the bucket that includes this one, if buckets become 2^by times as wide.
constexpr std::uint32_t widened(std::uint64_t index, std::uint32_t by) {
  return by < 32 ? static_cast<std::uint32_t>(index >> by) : 0;
}

class TimeBuckets {
 public:
  static constexpr std::uint32_t kMostBuckets = 512;
  static constexpr std::uint32_t kFirstShift = 10;  // log2 of the first bucket width in nanoseconds: about a
                                                    // microsecond

  // Reduces the maximum number of buckets. Buckets may become wider.
  void limit(std::uint32_t most);

  explicit TimeBuckets(std::uint64_t start_ns) : start_ns_(start_ns) {}

  // Returns the bucket of a time, and extends the clock until that time. Times before the start belong to the first
  // bucket.
  TimeBucket bucket_of(std::uint64_t time_ns) {
    const std::uint64_t offset = time_ns > start_ns_ ? time_ns - start_ns_ : 0;
    if (offset > last_offset_) {
      last_offset_ = offset;
      if (offset > most_offset_) widen();
    }
    return {static_cast<std::uint32_t>(offset >> shift_), shift_};
  }

  std::uint64_t start_ns() const { return start_ns_; }
  std::uint64_t end_ns() const { return start_ns_ + last_offset_; }  // latest time passed to bucket_of()
  std::uint64_t width_ns() const { return std::uint64_t{1} << shift_; }
  std::uint32_t shift() const { return shift_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(last_offset_ >> shift_) + 1; }

 private:
  void widen();

  std::uint64_t start_ns_;
  std::uint64_t last_offset_ = 0;
  std::uint64_t most_offset_ = (std::uint64_t{kMostBuckets} << kFirstShift) - 1;  // end of the last possible bucket
  std::uint32_t shift_ = kFirstShift;
  std::uint32_t most_ = kMostBuckets;
};

// Live and allocated bytes of one group over time. All buckets must be from the same clock.
class TimeSeries {
 public:
  void allocate(TimeBucket at, std::uint64_t bytes) {
    Entry& entry = entry_of(at);
    entry.net += bytes;
    entry.bytes_allocated += bytes;
    ++entry.allocations;
  }
  void release(TimeBucket at, std::uint64_t bytes) { entry_of(at).net -= bytes; }

  // Merges buckets until they are as wide as the clock's buckets, and frees the unused memory.
  void shrink_to(const TimeBuckets& clock);

  // Returns one point for each bucket of the clock. The clock must include all times of the series.
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

  std::vector<Entry> entries_;  // sorted by bucket
  TimeBucket last_;             // bucket of the last entry; all entries have the shift of this bucket
};

}  // namespace kmt
