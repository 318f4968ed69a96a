// SPDX-License-Identifier: GPL-2.0-or-later
// Orders records by time as perf does (util/ordered-events.c, Linux 6.18). perf reads the buffers of the CPUs in turn.
// Reading all buffers once is a round, and PERF_RECORD_FINISHED_ROUND ends it. A record of round 3 may be older than
// the latest record of round 2, but is hardly ever older than the latest record of round 1. So at the end of a round,
// all records up to the latest time of the previous round are due, which means that no earlier record will follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kmt::perfdata {

// Computes the time up to which records are due.
class RoundLimit {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  // Notes the time of a kernel record. Call this for each kernel record that has a time, in file order.
  void note(std::uint64_t time_ns) {
    latest_ns_ = none_held_ ? time_ns : std::max(latest_ns_, time_ns);
    none_held_ = false;
  }
  // Ends the round. Returns the time up to which records are due, or 0 if there are none.
  std::uint64_t end_round() {
    const std::uint64_t due_ns = std::exchange(next_due_ns_, latest_ns_);
    if (latest_ns_ <= due_ns) none_held_ = true;
    return due_ns;
  }

 private:
  std::uint64_t latest_ns_ = 0;  // latest time of all records that are not due yet
  std::uint64_t next_due_ns_ = 0;
  bool none_held_ = true;
};

// Returns the maximum number of held items. When this number is reached, the older half becomes due. This limits the
// memory for files without rounds.
constexpr std::uint64_t most_held(std::uint64_t file_bytes) {
  return std::max<std::uint64_t>(1u << 20, file_bytes / 256);
}

// Holds items until they are due, and sorts them. Items arrive in runs that are already sorted, usually one run per
// CPU. These runs are merged.
template <typename Item>
class HeldByTime {
 public:
  // Returns the held items. Append an item to this vector, then call hold() for the item. Do not append while items are
  // due.
  std::vector<Item>& items() { return items_; }
  void hold(std::uint64_t time_ns, std::uint16_t cpu) {
    const Place place{time_ns, static_cast<std::uint32_t>(items_.size() - 1), cpu};
    if (!order_.empty() && before(place, order_.back())) runs_.push_back(order_.size());
    order_.push_back(place);
  }
  std::size_t size() const { return order_.size(); }

  // Makes all items up to the time `due_ns` due.
  void release(std::uint64_t due_ns) {
    merge_runs();
    const auto later = std::partition_point(order_.begin(), order_.end(),
                                            [due_ns](const Place& place) { return place.time_ns <= due_ns; });
    due_ = static_cast<std::size_t>(later - order_.begin());
  }
  // Returns the time of the middle item. About half of the items have this time or an earlier one.
  std::uint64_t middle_ns() {
    merge_runs();
    return order_[order_.size() / 2].time_ns;
  }
  // Returns the next due item, ordered by time, then CPU, then arrival. Returns null at the end. Valid until the next
  // call.
  Item* next_due() {
    if (next_ < due_) {
      constexpr std::size_t kAhead = 8;
      if (next_ + kAhead < due_) __builtin_prefetch(&items_[order_[next_ + kAhead].index]);
      return &items_[order_[next_++].index];
    }
    if (due_ > 0) let_go_of_due();
    return nullptr;
  }

 private:
  struct Place {
    std::uint64_t time_ns;
    std::uint32_t index;  // index into items_; lower for items that arrived earlier
    std::uint16_t cpu;
  };
  static bool before(const Place& a, const Place& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.cpu != b.cpu ? a.cpu < b.cpu : a.index < b.index;
  }

  // Merges adjacent runs in pairs until one run is left.
  void merge_runs() {
    const auto at = [this](std::size_t place) { return order_.begin() + static_cast<std::ptrdiff_t>(place); };
    while (runs_.size() > 1) {
      std::size_t merged = 0;
      for (std::size_t run = 0; run < runs_.size(); run += 2) {
        const std::size_t end = run + 2 < runs_.size() ? runs_[run + 2] : order_.size();
        if (run + 1 < runs_.size()) std::inplace_merge(at(runs_[run]), at(runs_[run + 1]), at(end), before);
        runs_[merged++] = runs_[run];
      }
      runs_.resize(merged);
    }
  }

  // Drops the items that next_due() has returned. The remaining items are one run. If they are few, moves them to the
  // front of items_ and frees the rest.
  void let_go_of_due() {
    order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(due_));
    due_ = next_ = 0;
    if (items_.size() < 4 * order_.size()) return;
    left_.clear();
    for (Place& place : order_) {
      left_.push_back(std::move(items_[place.index]));
      place.index = static_cast<std::uint32_t>(left_.size() - 1);
    }
    items_.swap(left_);
  }

  std::vector<Item> items_;  // may include items that were already returned
  std::vector<Item> left_;   // used by let_go_of_due(); a member only so that its memory is reused
  std::vector<Place> order_;
  std::vector<std::size_t> runs_ = {0};  // position in order_ where each run starts
  std::size_t due_ = 0;                  // number of due items at the front of order_
  std::size_t next_ = 0;
};

}  // namespace kmt::perfdata
