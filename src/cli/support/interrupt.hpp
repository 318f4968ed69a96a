// SPDX-License-Identifier: GPL-2.0-or-later
// Handles Ctrl+C so that it stops long work early but does not end the program. The partial result can then be shown.
#pragma once

#include <array>
#include <csignal>

namespace kmt {

// The exit status of a command whose result is incomplete because of Ctrl+C. The value is 128 + SIGINT, as in shells.
constexpr int kInterruptedExitCode = 130;
// The exit status of leaks and investigate if the data is too short or incomplete for a verdict.
constexpr int kCannotTellExitCode = 4;

// The effect of a second Ctrl+C (or other ending signal).
enum class SecondSignal { ends_program, is_ignored };

// Call it once. After this call, a signal that ends the program first removes unfinished outputs. If an output exceeds
// the limit of file sizes, the write fails in the same way as on a full disk. Programs that this program starts get the
// default actions. Signals that are ignored stay ignored.
void handle_ending_signals();

// While an object of this class exists, the first SIGINT, SIGTERM or SIGHUP only sets a flag. If SIGHUP is ignored, it
// stays ignored. All objects share the flag. Use this class in one thread only.
class InterruptGuard {
 public:
  explicit InterruptGuard(SecondSignal second = SecondSignal::ends_program);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;

  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
};

// While an object of this class exists, SIGUSR2 requests a file instead of ending the program.
class FileRequestGuard {
 public:
  FileRequestGuard();
  FileRequestGuard(const FileRequestGuard&) = delete;
  FileRequestGuard& operator=(const FileRequestGuard&) = delete;
  ~FileRequestGuard();

  static bool asked();  // true if SIGUSR2 has requested a file since the last call

 private:
  struct sigaction before_ {};
};

}  // namespace kmt
