// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/interrupt.hpp"

#include <csignal>

namespace kmt {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_signal(int /*number*/) { g_interrupted = 1; }

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal does what it always did
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  handle(on_signal);
}

InterruptGuard::~InterruptGuard() { handle(SIG_DFL); }

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

}  // namespace kmt
