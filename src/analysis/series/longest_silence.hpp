// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the longest silence: a time in which no CPU has an event. If a whole machine is recorded, silences are short.
// If one is much longer than all others, the clock was set or the recording was interrupted.
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
  // Adds an event. Call this for each event, in order of time.
  void add(const Event& event);

  struct Silence {
    std::uint64_t begin_ns = 0;
    std::uint64_t ns = 0;
    // IDs of the tasks with events before and after the silence; 0 for the idle task.
    std::vector<std::int32_t> tasks;
  };
  // Returns the longest silence if it is longer than `least_ns` and much longer than all others. Call this function
  // after the last event.
  std::optional<Silence> out_of_proportion(std::uint64_t least_ns);

 private:
  struct Seen {
    std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_ns = 0;
  };
  void note(std::int32_t tid, std::uint64_t time_ns);

  std::uint64_t begin_ns_ = 0, longest_ns_ = 0, second_ns_ = 0;
  std::uint64_t last_ns_ = 0, events_ = 0;
  std::vector<std::pair<std::int32_t, std::uint64_t>> on_cpus_;  // index: CPU; value: task and time of its last event
  std::unordered_map<std::int32_t, Seen> seen_;                  // key: task
};

}  // namespace kmt
