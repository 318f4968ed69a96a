// SPDX-License-Identifier: GPL-2.0-or-later
// Conditions that end a recording: a value of /proc/meminfo or /proc/vmstat passes a limit, or an allocation fails.
#pragma once

#include <cstdint>
#include <string>

#include "base/proc_text.hpp"

namespace kmt {

class Trigger {
 public:
  // "SUnreclaim>2G", "MemFree<200M", "SUnreclaim+500M" (more than at the start), "oom_kill+0", "failure". Throws Error.
  explicit Trigger(const std::string& condition);

  // Takes the start values for growth. Throws Error if the condition holds already.
  void start();
  bool wants_failures() const { return key_.empty(); }
  // True if it holds now; never for failures, which the recording sees. Looks at most ten times per second.
  bool holds();
  // "SUnreclaim is 2.1 GiB": the value when the condition last held.
  std::string what_happened() const;

 private:
  std::string condition_;
  std::string key_;  // a line's name; empty: failures
  char comparison_ = '>';
  std::uint64_t limit_ = 0;
  std::uint64_t at_start_ = 0;
  ProcValue last_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace kmt
