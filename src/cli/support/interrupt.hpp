// SPDX-License-Identifier: GPL-2.0-or-later
// Makes Ctrl+C end long work early instead of the program, so that the partial result can be shown.
#pragma once

#include <array>
#include <csignal>

namespace kmt {

// The exit status of a command whose result is incomplete because of Ctrl+C. It is 128 + SIGINT, as in shells.
constexpr int kInterruptedExitCode = 130;
// The data is too short or incomplete for an answer (leaks, investigate).
constexpr int kCannotTellExitCode = 4;

// The effect of a second signal: the default action or no effect.
enum class SecondSignal { ends_program, is_ignored };

// Call it once. After this, a signal that ends the program first removes unfinished outputs. If a file size limit is
// exceeded, the write fails as on a full disk. Executed programs get the default actions, and ignored signals stay
// ignored.
void handle_ending_signals();

// While an object exists, the first SIGINT, SIGTERM or SIGHUP only sets a flag. An ignored SIGHUP stays ignored. Nested
// guards share the flag. Use it in one thread only.
class InterruptGuard {
 public:
  explicit InterruptGuard(SecondSignal second = SecondSignal::ends_program);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;

  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
};

// While an object exists, SIGUSR2 requests a file instead of ending the program.
class FileRequestGuard {
 public:
  FileRequestGuard();
  FileRequestGuard(const FileRequestGuard&) = delete;
  FileRequestGuard& operator=(const FileRequestGuard&) = delete;
  ~FileRequestGuard();

  static bool asked();  // true if a file was requested since the last call

 private:
  struct sigaction before_ {};
};

}  // namespace kmt
