// SPDX-License-Identifier: GPL-2.0-or-later
// The longest time in which no CPU has an event. Of a whole machine that is never long: where it is, out of all
// proportion, its clock was set meanwhile, or nothing was recorded.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event.hpp"

namespace kmt {

class LongestSilence {
 public:
  // Every event, in the order of time.
  void add(const Event& event);

  struct Silence {
    std::uint64_t begin_ns = 0;
    std::uint64_t ns = 0;
    std::vector<std::int32_t> tasks;  // that have events before and after it; idle CPUs are 0
  };
  // Empty: there is none that is longer than that and out of proportion to all others. Behind the last event.
  std::optional<Silence> out_of_proportion(std::uint64_t least_ns);

 private:
  struct Seen {
    std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_ns = 0;
  };
  void note(std::int32_t tid, std::uint64_t time_ns);

  std::uint64_t begin_ns_ = 0, longest_ns_ = 0, second_ns_ = 0;
  std::uint64_t last_ns_ = 0, events_ = 0;
  std::vector<std::pair<std::int32_t, std::uint64_t>> on_cpus_;  // who had an event last, and when
  std::unordered_map<std::int32_t, Seen> seen_;                  // by task
};

}  // namespace kmt
