// SPDX-License-Identifier: GPL-2.0-or-later
// Records in the order of time, as perf puts them (util/ordered-events.c, Linux 6.18). perf reads the CPUs' buffers in
// turn and ends each turn, a round, with PERF_RECORD_FINISHED_ROUND. What a round holds may be older than the latest of
// the round before, but not, so it is assumed, older than the latest of the one before that. So the end of a round
// gives out all up to the latest time of the round before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kmt::perfdata {

// Up to which time records are due.
class RoundLimit {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  // Each record of the kernel that has a time, in the file's order.
  void note(std::uint64_t time_ns) {
    latest_ns_ = none_held_ ? time_ns : std::max(latest_ns_, time_ns);
    none_held_ = false;
  }
  // The times up to which this round's end gives records out; 0: none.
  std::uint64_t end_round() {
    const std::uint64_t due_ns = std::exchange(next_due_ns_, latest_ns_);
    if (latest_ns_ <= due_ns) none_held_ = true;
    return due_ns;
  }

 private:
  std::uint64_t latest_ns_ = 0;  // of those that are held
  std::uint64_t next_due_ns_ = 0;
  bool none_held_ = true;
};

// Of a file without rounds half of what is held is given out when there are so many, so that memory stays in proportion.
constexpr std::uint64_t most_held(std::uint64_t file_bytes) {
  return std::max<std::uint64_t>(1u << 20, file_bytes / 64);
}

// What waits for its turn.
template <typename Item>
class HeldByTime {
 public:
  // Append here, then hold() what was appended.
  std::vector<Item>& items() { return items_; }
  void hold(std::uint64_t time_ns, std::uint16_t cpu) {
    order_.push_back({time_ns, static_cast<std::uint32_t>(items_.size() - 1), cpu});
  }
  std::size_t size() const { return order_.size(); }

  // Calls give(item) for all up to `due_ns`, by time, at equal times by CPU, within a CPU as they came.
  template <typename Give>
  void give_out(std::uint64_t due_ns, Give&& give) {
    std::sort(order_.begin(), order_.end(), before);
    auto at = order_.begin();
    for (; at != order_.end() && at->time_ns <= due_ns; ++at) give(items_[at->index]);
    keep_from(at);
  }
  // The time in the middle of what is held, which must not be nothing.
  std::uint64_t middle_ns() {
    const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(order_.size() / 2);
    std::nth_element(order_.begin(), middle, order_.end(), before);
    return middle->time_ns;
  }

 private:
  struct Place {
    std::uint64_t time_ns;
    std::uint32_t index;  // into items_, in the order of coming
    std::uint16_t cpu;
  };
  static bool before(const Place& a, const Place& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.cpu != b.cpu ? a.cpu < b.cpu : a.index < b.index;
  }

  void keep_from(typename std::vector<Place>::iterator first) {
    order_.erase(order_.begin(), first);
    // In the order of coming, so that later indices stay later.
    std::sort(order_.begin(), order_.end(), [](const Place& a, const Place& b) { return a.index < b.index; });
    std::uint32_t next = 0;
    for (Place& place : order_) {
      if (next != place.index) items_[next] = std::move(items_[place.index]);
      place.index = next++;
    }
    items_.resize(next);
  }

  std::vector<Item> items_;
  std::vector<Place> order_;
};

}  // namespace kmt::perfdata
