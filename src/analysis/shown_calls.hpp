// SPDX-License-Identifier: GPL-2.0-or-later
// The calls that a call graph shows: held while they run, since only their end tells whether they are shown.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "results/call_graph.hpp"

namespace kmt {

class ShownCalls {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Of the calls that are to be shown the first `limit` ones, as they began; 0: all.
  explicit ShownCalls(std::size_t limit) : limit_(limit) {}

  // A call begins, or only its end is known. `parent`: where the call around it is held. Where it is held itself,
  // kNone: enough others came before it.
  std::size_t begin(TracedCall call, std::size_t parent);
  TracedCall& at(std::size_t slot) { return calls_[slot].call; }
  // It has ended, whether that was seen or not, and is to be shown or not.
  void show(std::size_t slot, bool end_seen);
  void drop(std::size_t slot);         // or kNone
  void hide_inside(std::size_t slot);  // likewise
  bool is_full() const { return limit_ != 0 && shown_.size() == limit_; }

  void take(CallGraphResult& result);  // once, when all have ended

 private:
  struct Held {
    TracedCall call;
    std::uint64_t begin = 0;  // places in the order of begins and ends; 0: dropped
    std::uint64_t end = 0;    // 0: not seen
    std::size_t parent = kNone;
    std::uint64_t parent_begin = 0;  // another call may be held in the parent's place later
  };
  bool is_there(const Held& child) const {
    return child.parent != kNone && calls_[child.parent].begin == child.parent_begin;
  }

  std::size_t limit_;
  std::vector<Held> calls_;
  std::vector<std::size_t> free_;
  std::vector<std::pair<std::uint64_t, std::size_t>> shown_;  // begins, and where they are held; with a limit a heap
  std::uint64_t place_ = 0;
};

}  // namespace kmt
