// SPDX-License-Identifier: GPL-2.0-or-later
// The condition that ends a recording: a value in /proc/meminfo or /proc/vmstat crosses a limit, or an allocation
// fails.
#pragma once

#include <cstdint>
#include <string>

#include "base/proc_text.hpp"

namespace kmt {

class Trigger {
 public:
  // Parses "SUnreclaim>2G", "MemFree<200M", "SUnreclaim+500M" (growth since the start), "oom_kill+0" or "failure".
  // Throws Error.
  explicit Trigger(const std::string& condition);

  // Stores the current value, from which growth is measured. Throws Error if the condition is already true.
  void start();
  bool wants_failures() const { return key_.empty(); }
  // True if the condition is true at `now_ns`, a monotonic time in nanoseconds. Always false for failed allocations,
  // which the recording itself detects. Reads the value at most ten times per second, and returns false in between.
  bool holds(std::uint64_t now_ns);
  // Returns text such as "SUnreclaim is 2.1 GiB", with the value from the last time the condition was true.
  std::string what_happened() const;

 private:
  std::string condition_;
  std::string key_;  // name of a line in /proc/meminfo or /proc/vmstat; empty for failed allocations
  char comparison_ = '>';
  std::uint64_t limit_ = 0;
  std::uint64_t at_start_ = 0;
  ProcValue last_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace kmt
