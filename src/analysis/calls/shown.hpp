// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the calls that a call graph shows. Running calls are held too, because only the end of a call decides whether
// it is shown.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "results/calls/graph.hpp"

namespace kmt {

class ShownCalls {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Keeps the first `limit` calls in order of their start (0: all) and the `slowest` longest calls. Among calls of
  // equal duration, the earlier ones are kept.
  ShownCalls(std::size_t limit, std::size_t slowest) : limit_(limit), slowest_(slowest) {}

  // Adds a call that starts, or a call of which only the end is known. `parent` is the slot of the surrounding call.
  // Returns the slot of the new call, or kNone if the limit is reached.
  std::size_t begin(TracedCall call, std::size_t parent);
  TracedCall& at(std::size_t slot) { return calls_[slot].call; }
  // Marks a call as ended and shows it unless the limits are filled by other calls. `end_seen` is false if its end was
  // not recorded.
  void show(std::size_t slot, bool end_seen);
  void drop(std::size_t slot);         // `slot` may be kNone
  void hide_inside(std::size_t slot);  // `slot` may be kNone
  // True if no call that starts now can be shown.
  bool is_full() const { return limit_ != 0 && slowest_ == 0 && first_.size() == limit_; }

  void take(CallGraphResult& result);  // call once, when all calls have ended

 private:
  struct Held {
    TracedCall call;
    std::uint64_t begin = 0;  // position in the order of starts and ends; 0: dropped
    std::uint64_t end = 0;    // 0: end not seen
    std::size_t parent = kNone;
    std::uint64_t parent_begin = 0;  // to detect that the parent's slot was reused by another call
    unsigned reasons = 0;            // number of reasons to keep it after its end
  };
  bool is_there(const Held& child) const {
    return child.parent != kNone && calls_[child.parent].begin == child.parent_begin;
  }

  // Entries are sort key, order of start, and slot. The largest entry is dropped first.
  using Heap = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::size_t>>;
  void keep(Heap& heap, std::size_t most, std::uint64_t goes_by, std::size_t slot);
  void lose_reason(std::size_t slot);

  std::size_t limit_;
  std::size_t slowest_;
  std::vector<Held> calls_;
  std::vector<std::size_t> free_;
  Heap first_;  // by order of start
  Heap slow_;   // by inverted duration; the shortest call is dropped first
  std::uint64_t place_ = 0;
};

}  // namespace kmt
