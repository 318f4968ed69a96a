// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.hpp"

#include <atomic>

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(Thread, ReceivesNoSignals) {
  std::atomic<bool> blocked = false;
  start_thread("a thread", [&] {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    blocked = ::sigismember(&now, SIGTERM) == 1;
  }).join();
  EXPECT_TRUE(blocked);
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(::sigismember(&mine, SIGTERM), 0);
}

TEST(Thread, ErrorNamesTheThreadAndTheCause) {
  const Error error = thread_error("a reader thread for CPU 3", "Resource temporarily unavailable");
  EXPECT_STREQ(error.what(), "Cannot start a reader thread for CPU 3: Resource temporarily unavailable");
  EXPECT_NE(error.hint().find("ulimit -u"), std::string::npos);
  EXPECT_EQ(error.exit_code(), ExitCode::unsupported);
}

}  // namespace
}  // namespace kmt
