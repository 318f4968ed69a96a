// SPDX-License-Identifier: GPL-2.0-or-later
// The condition that ends a recording or starts an investigation: a value in /proc/meminfo or /proc/vmstat crosses a
// limit, or an allocation fails.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "base/proc_text.hpp"

namespace kmt {

// Returns the current value of a line of /proc/meminfo or /proc/vmstat. Nothing if both files lack the line.
std::optional<ProcValue> current_value(const std::string& name);
using ValueReader = std::function<std::optional<ProcValue>(const std::string& name)>;

class Trigger {
 public:
  // Parses "SUnreclaim>2G", "MemFree<200M", "SUnreclaim+500M" (growth since the start), "SUnreclaim+500M/10m" (growth
  // within 10 minutes), "failure", or "oom", which means "oom_kill+0". Reads values with `value_of`. Throws Error.
  explicit Trigger(const std::string& given, ValueReader value_of = current_value);

  // Stores the current value, from which growth is measured. Throws Error if the condition is already true.
  void start();
  // Forgets all earlier values. Growth is measured from now on.
  void start_again();
  bool wants_failures() const { return key_.empty(); }
  bool waits_for_oom() const { return is_oom_; }
  // True if the condition is true at `now_ns`, a monotonic time in nanoseconds. Always false for failed allocations,
  // which the recording itself detects. Reads the value at most ten times per second, or a thousand times in the window
  // of growth, and returns false in between. If the condition is "oom", returns true one reading after the reading that
  // shows the kill.
  bool holds(std::uint64_t now_ns);
  // Returns text such as "SUnreclaim is 2.1 GiB", with the value from the last time the condition was true.
  std::string what_happened() const;

 private:
  struct Reading {
    std::uint64_t ns;
    std::uint64_t value;
  };

  void keep_lowest(Reading now);

  ValueReader value_of_;
  std::string condition_;
  std::string key_;  // name of a line in /proc/meminfo or /proc/vmstat; empty for failed allocations
  bool is_oom_ = false;
  bool had_kill_ = false;  // the last reading showed a kill
  char comparison_ = '>';
  std::uint64_t limit_ = 0;
  std::uint64_t at_start_ = 0;   // the value from which growth is measured
  std::uint64_t window_ns_ = 0;  // growth is measured within this time; 0: since the start
  std::uint64_t pause_ns_ = 100'000'000;
  // The readings of the window that may become its lowest value: values rise from the first to the last.
  std::deque<Reading> lowest_;
  ProcValue last_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace kmt
