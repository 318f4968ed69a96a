// SPDX-License-Identifier: GPL-2.0-or-later
// Ctrl+C that ends long work early instead of the program, so that what is done so far can be shown.
#pragma once

#include <array>
#include <csignal>

namespace kmt {

// The exit status of a command whose result is incomplete because of Ctrl+C: 128 + SIGINT, as shells have it.
constexpr int kInterruptedExitCode = 130;

// What a second signal does: as if nobody had heeded the first one, or nothing.
enum class SecondSignal { ends_program, is_ignored };

// While it lives, the first SIGINT, SIGTERM or SIGHUP only sets a mark. A SIGHUP that was ignored before stays ignored.
// Inside another one it changes nothing: the mark is that of both. Of one thread alone.
class InterruptGuard {
 public:
  explicit InterruptGuard(SecondSignal second = SecondSignal::ends_program);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;

  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
};

// While it lives, SIGUSR2 asks for a file instead of ending the program.
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
