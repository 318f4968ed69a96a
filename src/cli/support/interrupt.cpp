// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/interrupt.hpp"

#include <csignal>

#include "base/new_file.hpp"

namespace kmt {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

int g_guards = 0;
std::array<struct sigaction, InterruptGuard::kSignals.size()> g_before;
// The actions for a second signal. Valid if g_has_second is set.
std::array<struct sigaction, InterruptGuard::kSignals.size()> g_second;
volatile std::sig_atomic_t g_has_second = 0;

void on_signal(int number) {
  g_interrupted = 1;
  if (g_has_second == 0) return;
  for (std::size_t i = 0; i < g_second.size(); ++i)
    if (InterruptGuard::kSignals[i] == number) sigaction(number, &g_second[i], nullptr);
}

void remove_and_end(int number) {
  remove_unfinished_files();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

volatile std::sig_atomic_t g_file_asked_for = 0;

void on_file_request(int /*number*/) { g_file_asked_for = 1; }

}  // namespace

void handle_ending_signals() {
  struct sigaction action {};
  for (const int number : InterruptGuard::kSignals) {
    sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_DFL) std::signal(number, remove_and_end);
  }
  std::signal(SIGXFSZ, [](int) {});
}

InterruptGuard::InterruptGuard(SecondSignal second) {
  if (g_guards++ > 0) return;
  g_interrupted = 0;
  g_has_second = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    g_second[i] = g_before[i];
    if (g_before[i].sa_handler == SIG_IGN) g_second[i].sa_handler = SIG_DFL;
    // If SIGHUP is ignored (nohup), it stays ignored. SIGINT is handled even if it is ignored: a shell starts
    // background jobs of a script with SIGINT ignored, but a user may still send it to the process.
    if (kSignals[i] != SIGHUP || g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  g_has_second = second == SecondSignal::ends_program ? 1 : 0;
}

InterruptGuard::~InterruptGuard() {
  if (--g_guards > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

FileRequestGuard::FileRequestGuard() {
  struct sigaction action {};
  action.sa_handler = on_file_request;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, &before_);
}

FileRequestGuard::~FileRequestGuard() { sigaction(SIGUSR2, &before_, nullptr); }

bool FileRequestGuard::asked() {
  if (g_file_asked_for == 0) return false;
  g_file_asked_for = 0;
  return true;
}

}  // namespace kmt
