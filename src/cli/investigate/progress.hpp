// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the progress of an investigation on stderr.
#pragma once

#include <vector>

#include "cli/investigate/states.hpp"

namespace kmt {

// Shows "Watching: 34 of 120 s, SUnreclaim +2.1 MiB". On a terminal, this is a single line that changes. Otherwise, a
// line is printed every 30 s.
class WatchProgress {
 public:
  WatchProgress();
  ~WatchProgress() { clear(); }
  WatchProgress(const WatchProgress&) = delete;
  WatchProgress& operator=(const WatchProgress&) = delete;
  void update(double seconds, double of_seconds, const std::vector<StateSample>& states);
  void clear();

 private:
  bool is_terminal_;
  bool is_shown_ = false;
  double next_seconds_;
};

}  // namespace kmt
