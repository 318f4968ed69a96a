// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/time_series.hpp"

#include <algorithm>
#include <bit>

namespace kmt {

void TimeBuckets::extend(std::uint64_t offset) {
  last_offset_ = offset;
  shift_ = std::max(shift_, static_cast<std::uint32_t>(std::bit_width(offset / kMostBuckets)));
}

TimeSeries::Entry& TimeSeries::find_entry(TimeBucket at) {
  if (at.shift > last_.shift) fold(at.shift);
  const std::uint64_t index = std::uint64_t{at.index} >> (last_.shift - at.shift);
  // Nearly always behind the last one: only times that are out of order are not.
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
    entry.bucket = static_cast<std::uint16_t>(entry.bucket >> by);
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

void TimeSeries::merge(const TimeSeries& other) {
  for (const Entry& entry : other.entries_) {
    Entry& into = entry_of({static_cast<std::uint32_t>(entry.bucket), other.last_.shift});
    into.net += entry.net;
    into.bytes_allocated += entry.bytes_allocated;
    into.allocations += entry.allocations;
  }
}

std::vector<TimeSeriesPoint> TimeSeries::points(const TimeBuckets& clock) const {
  std::vector<TimeSeriesPoint> points(clock.count());
  const std::uint32_t by = clock.shift() - last_.shift;
  for (const Entry& entry : entries_) {
    TimeSeriesPoint& point = points[entry.bucket >> by];
    point.live_bytes += entry.net;
    point.bytes_allocated += entry.bytes_allocated;
    point.allocations += entry.allocations;
  }
  for (std::size_t i = 1; i < points.size(); ++i) points[i].live_bytes += points[i - 1].live_bytes;
  return points;
}

}  // namespace kmt
