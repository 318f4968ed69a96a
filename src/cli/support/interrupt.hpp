// SPDX-License-Identifier: GPL-2.0-or-later
// Lets Ctrl+C end long work early instead of the program, so that its partial result can be shown.
#pragma once

#include <array>
#include <csignal>

namespace kmt {

// The exit status of a command whose result is incomplete because of Ctrl+C: 128 + SIGINT, as in shells.
constexpr int kInterruptedExitCode = 130;

// The effect of a second signal: the default action, or none.
enum class SecondSignal { ends_program, is_ignored };

// Call it once. A signal that ends the program removes unfinished outputs first; a limit of file sizes makes a write
// fail like a full disk. Programs that are executed get the usual actions, and an ignored signal stays ignored.
void handle_ending_signals();

// During its life, the first SIGINT, SIGTERM or SIGHUP only sets a mark. An ignored SIGHUP stays ignored. Nested guards
// share the mark. For one thread only.
class InterruptGuard {
 public:
  explicit InterruptGuard(SecondSignal second = SecondSignal::ends_program);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;

  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
};

// During its life, SIGUSR2 requests a file instead of ending the program.
class FileRequestGuard {
 public:
  FileRequestGuard();
  FileRequestGuard(const FileRequestGuard&) = delete;
  FileRequestGuard& operator=(const FileRequestGuard&) = delete;
  ~FileRequestGuard();

  static bool asked();  // since the last call

 private:
  struct sigaction before_ {};
};

}  // namespace kmt
