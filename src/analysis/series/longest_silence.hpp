// SPDX-License-Identifier: GPL-2.0-or-later
// The longest time in which no CPU has an event. On a whole machine it is always short. If it is out of all proportion,
// the clock was set meanwhile, or nothing was recorded.
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
  // Returns a silence longer than that and out of proportion to all others, including the time after the last event.
  std::optional<Silence> out_of_proportion(std::uint64_t least_ns);

 private:
  struct Seen {
    std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_ns = 0;
  };
  void note(std::int32_t tid, std::uint64_t time_ns);

  std::uint64_t begin_ns_ = 0, longest_ns_ = 0, second_ns_ = 0;
  std::uint64_t last_ns_ = 0, events_ = 0;
  std::vector<std::pair<std::int32_t, std::uint64_t>> on_cpus_;  // task of the last event, and its time
  std::unordered_map<std::int32_t, Seen> seen_;                  // by task
};

}  // namespace kmt
