// SPDX-License-Identifier: GPL-2.0-or-later
// Logs how many events a recorder missed, and when.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/missed_events.hpp"

namespace kmt {

// Counts by function name; "" is an unknown function.
using MissedCounts = std::map<std::string, std::uint64_t>;

class MissedLog {
 public:
  // Sets the counts at the start of recording. All times are nanoseconds of the trace's clock.
  void begin(std::uint64_t now_ns, MissedCounts counts);
  // Adds the counts that the kernel returned at some time between asked_ns and answered_ns.
  void note(std::uint64_t asked_ns, std::uint64_t answered_ns, const MissedCounts& counts);

  std::uint64_t total() const { return total_; }  // number of missed events since begin()
  MissedCounts by_function() const;               // missed events since begin(), for each function that has any
  // Returns the intervals as text. May join intervals of one function that are near each other.
  std::string text() const { return missed_events_text(intervals_); }

 private:
  void join_intervals();
  void join_up_to_longest();

  std::uint64_t last_ns_ = 0;
  // maximum length of joined intervals; doubled when there are too many intervals
  std::uint64_t longest_ns_ = 20'000'000;
  std::uint64_t total_ = 0;
  MissedCounts last_;
  std::vector<MissedEvents> intervals_;
};

}  // namespace kmt
