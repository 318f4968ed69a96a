// SPDX-License-Identifier: GPL-2.0-or-later
// Sums up the bytes of each group by the time buckets of their allocation and of their end, in bounded memory. Memory
// that ended in the bucket of its allocation has no entry. If there are too many entries, the buckets become twice as
// wide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/series/time_series.hpp"
#include "base/flat_map.hpp"
#include "results/report/traffic.hpp"

namespace kmt {

struct GroupLife {
  std::uint32_t group = 0;
  LifeTraffic life;
};

class LifeSums {
 public:
  LifeSums(std::uint64_t start_ns, std::size_t most_entries) : clock_(start_ns), most_entries_(most_entries) {}

  // Adds memory that ended at `ended_ns`. Calls are in order of `ended_ns`.
  void add(std::uint32_t group, std::uint64_t bytes, std::uint64_t began_ns, std::uint64_t ended_ns);
  // Ends the last bucket at this time.
  void end(std::uint64_t time_ns) { widen(clock_.bucket_of(time_ns).shift); }
  std::uint32_t shift() const { return shift_; }
  // Returns all entries, sorted by group and buckets. Buckets are 2^shift ns wide; `shift` must be at least shift().
  // Call end() first.
  std::vector<GroupLife> take(std::uint32_t shift);

 private:
  void widen(std::uint32_t shift);

  TimeBuckets clock_;
  std::size_t most_entries_;
  std::uint32_t shift_ = TimeBuckets::kFirstShift;
  FlatMap<std::uint64_t> bytes_;  // key: group and buckets, see key_of()
};

}  // namespace kmt
