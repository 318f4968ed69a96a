// SPDX-License-Identifier: GPL-2.0-or-later
// Sums by id and bucket of time, in bounded memory: where there are too many, buckets become twice as wide. Events come
// in the order of time; one that is earlier counts for the bucket that is current.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/series/time_series.hpp"
#include "results/report/traffic.hpp"

namespace kmt {

class BucketedSums {
 public:
  // At most this many entries, but one for each id.
  BucketedSums(std::uint64_t start_ns, std::size_t most_entries) : clock_(start_ns), most_entries_(most_entries) {}

  // To add to, until the next call.
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

  // The clock went on until then.
  void end(std::uint64_t time_ns) { begin(clock_.bucket_of(time_ns)); }
  std::uint32_t shift() const { return clock_.shift(); }
  const TimeBuckets& clock() const { return clock_; }
  // By id, then bucket, of buckets of 2^shift ns, which are no narrower than the clock's. Call end() before.
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
  std::vector<Current> counts_;  // of the current bucket, by id
  std::vector<std::uint32_t> touched_;
  std::vector<Traffic> entries_;  // of earlier ones, by bucket
};

}  // namespace kmt
