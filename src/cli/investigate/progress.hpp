// SPDX-License-Identifier: GPL-2.0-or-later
// Shows on stderr how far an investigation is.
#pragma once

#include <vector>

#include "cli/investigate/states.hpp"

namespace kmt {

// "Watching: 34 of 120 s, SUnreclaim +2.1 MiB". One line that changes on a terminal, or else a line every 30 s.
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
