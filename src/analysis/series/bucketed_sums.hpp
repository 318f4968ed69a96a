// SPDX-License-Identifier: GPL-2.0-or-later
// Sums by ID and time bucket, in bounded memory. If there are too many entries, the buckets become twice as wide.
// Events are added in order of time. An event that is earlier than the current bucket counts in the current bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/series/time_series.hpp"
#include "results/report/traffic.hpp"

namespace kmt {

class BucketedSums {
 public:
  // Keeps at most `most_entries` entries. If there are more IDs than that, keeps one entry for each ID.
  BucketedSums(std::uint64_t start_ns, std::size_t most_entries) : clock_(start_ns), most_entries_(most_entries) {}

  // Returns the counts of this ID and time, so that the caller can add to them. The reference is valid until the next
  // call.
  TrafficCounts& at(std::uint32_t id, std::uint64_t time_ns) {
    const TimeBucket bucket = clock_.bucket_of(time_ns);
    if (bucket.shift != current_.shift || bucket.index > current_.index) begin(bucket);
    if (id >= counts_.size()) counts_.resize(id + std::size_t{1});
    Current& current = counts_[id];
    if (!current.touched) {
      current.touched = true;
      touched_.push_back(id);
    }
    return current.counts;
  }

  // Ends the last bucket at this time.
  void end(std::uint64_t time_ns) { begin(clock_.bucket_of(time_ns)); }
  std::uint32_t shift() const { return clock_.shift(); }
  const TimeBuckets& clock() const { return clock_; }
  // Returns all entries, sorted by ID and bucket. Buckets are 2^shift ns wide; `shift` must be at least the shift of
  // the clock. Call end() first.
  std::vector<Traffic> take(std::uint32_t shift);

 private:
  struct Current {
    TrafficCounts counts;
    bool touched = false;
  };

  void begin(TimeBucket bucket);
  void fold(std::uint32_t shift);

  TimeBuckets clock_;
  std::size_t most_entries_;
  TimeBucket current_;
  std::vector<Current> counts_;  // counts in the current bucket, by ID
  std::vector<std::uint32_t> touched_;
  std::vector<Traffic> entries_;  // earlier buckets, sorted by bucket
};

}  // namespace kmt
