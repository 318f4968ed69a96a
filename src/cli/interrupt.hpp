// SPDX-License-Identifier: GPL-2.0-or-later
// Ctrl+C that ends long work early instead of the program, so that what is done so far can be shown.
#pragma once

namespace kmt {

// The exit status of a command whose result is incomplete because of Ctrl+C: 128 + SIGINT, as shells have it.
constexpr int kInterruptedExitCode = 130;

// What a second signal does.
enum class SecondSignal { ends_program, is_ignored };

// While it lives, the first SIGINT, SIGTERM or SIGHUP only sets a mark. SIGHUP stays ignored where it is (nohup).
class InterruptGuard {
 public:
  explicit InterruptGuard(SecondSignal second = SecondSignal::ends_program);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;
};

}  // namespace kmt
