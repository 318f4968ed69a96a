// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/interrupt.hpp"

#include <csignal>

namespace kmt {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_signal(int /*number*/) { g_interrupted = 1; }

void handle(void (*handler)(int), SecondSignal second) {
  struct sigaction action {};
  action.sa_handler = handler;
  if (second == SecondSignal::ends_program) action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard(SecondSignal second) {
  g_interrupted = 0;
  handle(on_signal, second);
}

InterruptGuard::~InterruptGuard() { handle(SIG_DFL, SecondSignal::ends_program); }

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

}  // namespace kmt
