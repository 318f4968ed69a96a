// SPDX-License-Identifier: GPL-2.0-or-later
// Orders records by time, as perf does (util/ordered-events.c, Linux 6.18). perf reads the CPUs' buffers in turn and
// ends each turn, a round, with PERF_RECORD_FINISHED_ROUND. A round may have records older than the previous round's
// latest, but, by assumption, none older than the latest of the round before that. So the end of a round makes all
// records up to the previous round's latest time due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kmt::perfdata {

// The time up to which records are due.
class RoundLimit {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  // Takes each kernel record that has a time, in the file's order.
  void note(std::uint64_t time_ns) {
    latest_ns_ = none_held_ ? time_ns : std::max(latest_ns_, time_ns);
    none_held_ = false;
  }
  // Returns the time up to which records are due at this round's end; 0: none.
  std::uint64_t end_round() {
    const std::uint64_t due_ns = std::exchange(next_due_ns_, latest_ns_);
    if (latest_ns_ <= due_ns) none_held_ = true;
    return due_ns;
  }

 private:
  std::uint64_t latest_ns_ = 0;  // of the held ones
  std::uint64_t next_due_ns_ = 0;
  bool none_held_ = true;
};

// In a file without rounds, this many held items make half of them due, so that memory stays in proportion.
constexpr std::uint64_t most_held(std::uint64_t file_bytes) {
  return std::max<std::uint64_t>(1u << 20, file_bytes / 256);
}

// Items that wait for their turn. They come in runs, each of one CPU and in order, which are merged.
template <typename Item>
class HeldByTime {
 public:
  // Append here, then hold() the appended items, while nothing is due.
  std::vector<Item>& items() { return items_; }
  void hold(std::uint64_t time_ns, std::uint16_t cpu) {
    const Place place{time_ns, static_cast<std::uint32_t>(items_.size() - 1), cpu};
    if (!order_.empty() && before(place, order_.back())) runs_.push_back(order_.size());
    order_.push_back(place);
  }
  std::size_t size() const { return order_.size(); }

  // Makes all items up to `due_ns` due.
  void release(std::uint64_t due_ns) {
    merge_runs();
    const auto later = std::partition_point(order_.begin(), order_.end(),
                                            [due_ns](const Place& place) { return place.time_ns <= due_ns; });
    due_ = static_cast<std::size_t>(later - order_.begin());
  }
  // Returns the time that would make half of the items due.
  std::uint64_t middle_ns() {
    merge_runs();
    return order_[order_.size() / 2].time_ns;
  }
  // Returns the next due item, by time, then by CPU, then in order of arrival; null at the end. Valid until the next
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
    std::uint32_t index;  // into items_; the order of arrival for equal times and CPUs
    std::uint16_t cpu;
  };
  static bool before(const Place& a, const Place& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.cpu != b.cpu ? a.cpu < b.cpu : a.index < b.index;
  }

  // Merges pairs of neighbours until one is left.
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

  // The rest is one run. It moves to the front of its memory occasionally, when it is small.
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

  std::vector<Item> items_;  // includes items already returned
  std::vector<Item> left_;   // target for moving items_: its memory is reused
  std::vector<Place> order_;
  std::vector<std::size_t> runs_ = {0};  // their starts in order_
  std::size_t due_ = 0;                  // at the front of order_
  std::size_t next_ = 0;
};

}  // namespace kmt::perfdata
