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

  // Holds COMMAND until start(), and shows the kernel's caveats. The options must outlive this. Throws Error.
  explicit LiveRun(const LiveOptions& options);

  const BpfSelection& selection() const { return selection_; }
  // Lets COMMAND run. Shows on stderr that watching has started if somebody may wait for that: on a terminal, or with
  // -p. `what`: "Counting"; null: shows nothing.
  void start(const char* what);
  // False after Ctrl+C, at the end of the time, and if COMMAND or all selected processes have ended.
  bool goes_on();
  // Shows how COMMAND ended, if it did. The exit status to pass on: 0 without COMMAND, if it still runs, and after
  // Ctrl+C, which ends COMMAND too.
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
bool nobody_reads();

}  // namespace kmt
