// SPDX-License-Identifier: GPL-2.0-or-later
// The longest time in which no CPU has an event. Of a whole machine that is never long: where it is, out of all
// proportion, its clock was set meanwhile, or nothing was recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "trace/event.hpp"

namespace kmt {

class LongestSilence {
 public:
  // Every event, in the order of time.
  void add(const Event& event) {
    if (!first_ && event.time_ns > last_ns_) {
      const std::uint64_t ns = event.time_ns - last_ns_;
      second_ns_ = std::max(second_ns_, std::min(ns, longest_.ns));
      if (ns > longest_.ns) {
        longest_ = {last_ns_, ns};
        idle_before_ = idle_;
      }
    }
    first_ = false;
    last_ns_ = std::max(last_ns_, event.time_ns);
    if (event.tid == 0) ++idle_;
  }

  struct Silence {
    std::uint64_t begin_ns = 0;
    std::uint64_t ns = 0;
  };
  // Empty: there is none so long, or not all of the machine was recorded: idle CPUs have events, of interrupts mostly.
  std::optional<Silence> out_of_proportion(std::uint64_t least_ns) const {
    constexpr std::uint64_t kTimes = 20;
    if (longest_.ns <= least_ns || longest_.ns / kTimes <= second_ns_) return std::nullopt;
    if (idle_before_ == 0 || idle_ == idle_before_) return std::nullopt;
    return longest_;
  }

 private:
  Silence longest_;
  std::uint64_t second_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t idle_ = 0;  // events of idle CPUs
  std::uint64_t idle_before_ = 0;
  bool first_ = true;
};

}  // namespace kmt
