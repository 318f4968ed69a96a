// SPDX-License-Identifier: GPL-2.0-or-later
// Conditions that end a recording: something in /proc/meminfo or /proc/vmstat passes a limit, or an allocation fails.
#pragma once

#include <cstdint>
#include <string>

#include "base/proc_text.hpp"

namespace kmt {

class Trigger {
 public:
  // "SUnreclaim>2G", "MemFree<200M", "SUnreclaim+500M" (that much more than at the start), "oom_kill+0", "failure".
  // Throws Error.
  explicit Trigger(const std::string& condition);

  // What has grown has grown since then. Throws Error when the condition holds already.
  void start();
  bool wants_failures() const { return key_.empty(); }
  // Whether it holds now; never for failures, of which the recording knows. Looks at most ten times a second.
  bool holds();
  // "SUnreclaim is 2.1 GiB": the condition's side of it, when it held last.
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
