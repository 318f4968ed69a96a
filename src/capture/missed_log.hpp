// SPDX-License-Identifier: GPL-2.0-or-later
// What a recorder is told to have missed, with the times between which it was.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/missed_events.hpp"

namespace kmt {

// By function; "": of no function that is known.
using MissedCounts = std::map<std::string, std::uint64_t>;

class MissedLog {
 public:
  // What was counted until recording began. All times are nanoseconds of the trace's clock.
  void begin(std::uint64_t now_ns, MissedCounts counts);
  // The counts are of some time between that when they were asked for and that when they were there.
  void note(std::uint64_t asked_ns, std::uint64_t told_ns, const MissedCounts& counts);

  std::uint64_t total() const { return total_; }  // since it began
  MissedCounts by_function() const;               // likewise, of those that missed something
  // Stretches of a function that are close together may be one in it.
  std::string text() const { return missed_events_text(stretches_); }

 private:
  void join_stretches();
  void join_up_to_longest();

  std::uint64_t last_ns_ = 0;
  std::uint64_t longest_ns_ = 20'000'000;  // that stretches are joined to
  std::uint64_t total_ = 0;
  MissedCounts last_;
  std::vector<MissedEvents> stretches_;
};

}  // namespace kmt
