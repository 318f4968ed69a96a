// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/time_series.hpp"

#include <algorithm>
#include <bit>

namespace kmt {

// Makes the buckets wide enough for last_offset_. Above kWidest, the end of the last bucket may not fit into 64 bits.
// most_offset_ is then 0, so bucket_of() calls this function for each later time.
void TimeBuckets::widen() {
  constexpr std::uint32_t kWidest = 48;
  shift_ = std::max(shift_, static_cast<std::uint32_t>(std::bit_width(last_offset_ / most_)));
  most_offset_ = shift_ > kWidest ? 0 : (std::uint64_t{most_} << shift_) - 1;
}

void TimeBuckets::limit(std::uint32_t most) {
  most_ = most;
  widen();
}

TimeSeries::Entry& TimeSeries::find_entry(TimeBucket at) {
  if (at.shift > last_.shift) fold(at.shift);
  const std::uint32_t index = widened(at.index, last_.shift - at.shift);
  // The new entry nearly always comes after the last one, except if events are out of order.
  auto place = entries_.end();
  while (place != entries_.begin() && std::prev(place)->bucket >= index) --place;
  if (place == entries_.end() || place->bucket != index) {
    place = entries_.insert(place, Entry{});
    place->bucket = static_cast<std::uint16_t>(index);
    last_.index = static_cast<std::uint32_t>(entries_.back().bucket);
  }
  return *place;
}

void TimeSeries::fold(std::uint32_t shift) {
  const std::uint32_t by = shift - last_.shift;
  last_.shift = shift;
  if (entries_.empty()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry entry = entries_[i];
    entry.bucket = static_cast<std::uint16_t>(widened(entry.bucket, by));
    if (kept > 0 && entries_[kept - 1].bucket == entry.bucket) {
      Entry& into = entries_[kept - 1];
      into.net += entry.net;
      into.bytes_allocated += entry.bytes_allocated;
      into.allocations += entry.allocations;
    } else {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  last_.index = static_cast<std::uint32_t>(entries_.back().bucket);
}

void TimeSeries::shrink_to(const TimeBuckets& clock) {
  if (clock.shift() > last_.shift) fold(clock.shift());
  entries_.shrink_to_fit();
}

std::vector<TimeSeriesPoint> TimeSeries::points(const TimeBuckets& clock) const {
  std::vector<TimeSeriesPoint> points(clock.count());
  const std::uint32_t by = clock.shift() - last_.shift;
  std::vector<std::uint64_t> net(points.size());
  for (const Entry& entry : entries_) {
    const std::uint32_t index = widened(entry.bucket, by);
    net[index] += entry.net;
    points[index].bytes_allocated += entry.bytes_allocated;
    points[index].allocations += entry.allocations;
  }
  std::uint64_t live = 0;
  for (std::size_t i = 0; i < points.size(); ++i) points[i].live_bytes = static_cast<std::int64_t>(live += net[i]);
  return points;
}

}  // namespace kmt
