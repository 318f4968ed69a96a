// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the running kernel until COMMAND ends, the time is over, or Ctrl+C.
#pragma once

#include <chrono>
#include <optional>

#include "capture/session/command.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/live_options.hpp"

namespace kmt {

class LiveRun {
 public:
  using Clock = std::chrono::steady_clock;

  // Creates the process of COMMAND, which waits until start() is called. Prints notes about features that the kernel
  // lacks. `options` must outlive this object. Throws Error.
  explicit LiveRun(const LiveOptions& options);

  const BpfSelection& selection() const { return selection_; }
  // Lets COMMAND run. On a terminal or with -p, prints on stderr that watching has started, because a person or script
  // may wait for this message. `what` is a word such as "Counting"; if it is null, nothing is printed.
  void start(const char* what);
  // Returns false after Ctrl+C, when the time is over, and when COMMAND or all selected processes have ended.
  bool goes_on();
  // If COMMAND has ended, prints how it ended and returns its exit status. Returns 0 without COMMAND, if COMMAND still
  // runs, and after Ctrl+C, which also ends COMMAND.
  int say_end();

 private:
  const LiveOptions& options_;
  std::optional<std::chrono::nanoseconds> duration_;
  InterruptGuard interrupt_;
  std::optional<HeldCommand> command_;
  BpfSelection selection_;
  Clock::time_point start_;
};

// True if standard output is a pipe whose reader has closed it.
bool stdout_has_no_reader();

}  // namespace kmt
