// SPDX-License-Identifier: GPL-2.0-or-later
// The calls that a call graph shows. They are held while they run, since only their end decides whether they are shown.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "results/calls/graph.hpp"

namespace kmt {

class ShownCalls {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Keeps the first `limit` calls to be shown, by their start; 0: all. Also keeps the `slowest` ones, the first if
  // several are equal.
  ShownCalls(std::size_t limit, std::size_t slowest) : limit_(limit), slowest_(slowest) {}

  // A call starts, or only its end is known. `parent`: where the surrounding call is held. Returns where this one is
  // held, or kNone if enough others came before it.
  std::size_t begin(TracedCall call, std::size_t parent);
  TracedCall& at(std::size_t slot) { return calls_[slot].call; }
  // It has ended, whether that was seen or not, and is to be shown if enough others are not before it.
  void show(std::size_t slot, bool end_seen);
  void drop(std::size_t slot);         // or kNone
  void hide_inside(std::size_t slot);  // likewise
  // No call that begins now can be shown.
  bool is_full() const { return limit_ != 0 && slowest_ == 0 && first_.size() == limit_; }

  void take(CallGraphResult& result);  // once, when all have ended

 private:
  struct Held {
    TracedCall call;
    std::uint64_t begin = 0;  // places in the order of begins and ends; 0: dropped
    std::uint64_t end = 0;    // 0: not seen
    std::size_t parent = kNone;
    std::uint64_t parent_begin = 0;  // another call may be held in the parent's place later
    unsigned reasons = 0;            // to keep it when it has ended
  };
  bool is_there(const Held& child) const {
    return child.parent != kNone && calls_[child.parent].begin == child.parent_begin;
  }

  // Those that go first are the largest: what goes by, begin, where it is held.
  using Heap = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::size_t>>;
  void keep(Heap& heap, std::size_t most, std::uint64_t goes_by, std::size_t slot);
  void lose_reason(std::size_t slot);

  std::size_t limit_;
  std::size_t slowest_;
  std::vector<Held> calls_;
  std::vector<std::size_t> free_;
  Heap first_;  // by begin
  Heap slow_;   // by duration, the shortest goes first
  std::uint64_t place_ = 0;
};

}  // namespace kmt
