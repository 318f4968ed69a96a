// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the calls that a call graph shows. Running calls are stored too: only the end of a call decides whether the
// call is shown.
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

  // Adds a call that starts, or a call whose start was not seen. `parent` is the slot of the surrounding call. Returns
  // the slot of the new call, or kNone if the limit is reached.
  std::size_t begin(TracedCall call, std::size_t parent);
  TracedCall& at(std::size_t slot) { return calls_[slot].call; }
  // Marks a call as ended. The call is kept if it is within the limits. `end_seen` is false if the end of the call was
  // not recorded.
  void show(std::size_t slot, bool end_seen);
  void drop(std::size_t slot);         // `slot` may be kNone; the function then does nothing
  void hide_inside(std::size_t slot);  // `slot` may be kNone
  // True if no call that starts now can be shown.
  bool is_full() const { return limit_ != 0 && slowest_ == 0 && first_.size() == limit_; }

  void take(CallGraphResult& result);  // call once, when all calls have ended

 private:
  struct Held {
    TracedCall call;
    std::uint64_t begin = 0;  // position among all starts and ends of calls; 0: the call was dropped
    std::uint64_t end = 0;    // position of the end, like `begin`; 0: end not seen
    std::size_t parent = kNone;
    // `begin` of the parent call, to detect that another call now uses the parent's slot.
    std::uint64_t parent_begin = 0;
    unsigned reasons = 0;  // number of lists (first_, slow_) that keep the ended call
  };
  bool is_there(const Held& child) const {
    return child.parent != kNone && calls_[child.parent].begin == child.parent_begin;
  }

  // Entries are (sort key, position of the start, slot). The entry with the largest key is dropped first.
  using Heap = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::size_t>>;
  void keep(Heap& heap, std::size_t most, std::uint64_t goes_by, std::size_t slot);
  void lose_reason(std::size_t slot);

  std::size_t limit_;
  std::size_t slowest_;
  std::vector<Held> calls_;
  std::vector<std::size_t> free_;
  Heap first_;  // key: position of the start
  Heap slow_;   // key: ~duration, so that the shortest call is dropped first
  std::uint64_t place_ = 0;
};

}  // namespace kmt
