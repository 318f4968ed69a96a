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

  // Creates the process of COMMAND, which waits until start(). Prints notes about restrictions of the kernel. `options`
  // must outlive this object. Throws Error.
  explicit LiveRun(const LiveOptions& options);

  const BpfSelection& selection() const { return selection_; }
  // Lets COMMAND run. Prints on stderr that watching has started if a person or script may wait for this: on a
  // terminal, or with -p. `what` is a word such as "Counting"; if it is null, prints nothing.
  void start(const char* what);
  // Returns false after Ctrl+C, when the time is over, and when COMMAND or all selected processes have ended.
  bool goes_on();
  // Prints how COMMAND ended, if it has ended. Returns the exit status of COMMAND. Returns 0 without COMMAND, if
  // COMMAND is still running, and after Ctrl+C, which also ends COMMAND.
  int say_end();

 private:
  const LiveOptions& options_;
  std::optional<std::chrono::nanoseconds> duration_;
  InterruptGuard interrupt_;
  std::optional<HeldCommand> command_;
  BpfSelection selection_;
  Clock::time_point start_;
};

// True if standard output is a pipe without a reader.
bool stdout_has_no_reader();

}  // namespace kmt
