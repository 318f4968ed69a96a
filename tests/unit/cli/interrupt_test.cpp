// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/interrupt.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

volatile std::sig_atomic_t ended = 0;
void end(int /*number*/) { ended = ended + 1; }

class Interrupt : public testing::Test {
 protected:
  Interrupt() {
    ended = 0;
    struct sigaction action {};
    action.sa_handler = end;
    sigaction(SIGTERM, &action, &before_);
  }
  ~Interrupt() override { sigaction(SIGTERM, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

TEST_F(Interrupt, TheSecondSignalHasItsEarlierEffect) {
  const InterruptGuard guard;
  std::raise(SIGTERM);
  EXPECT_TRUE(guard.interrupted());
  EXPECT_EQ(ended, 0);
  std::raise(SIGTERM);
  EXPECT_EQ(ended, 1);
}

TEST_F(Interrupt, TheSecondSignalMayBeHandledLikeTheFirst) {
  const InterruptGuard guard(SecondSignal::is_ignored);
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  EXPECT_EQ(ended, 0);
}

TEST_F(Interrupt, RestoresTheEarlierHandler) {
  { const InterruptGuard guard; }
  std::raise(SIGTERM);
  EXPECT_EQ(ended, 1);
}

// A file may be read in two passes. A signal before the second pass must interrupt this pass too.
TEST_F(Interrupt, NestedHandlersSeeEarlierSignals) {
  const InterruptGuard outer;
  std::raise(SIGTERM);
  {
    const InterruptGuard inner(SecondSignal::is_ignored);
    EXPECT_TRUE(inner.interrupted());
  }
  EXPECT_TRUE(outer.interrupted());
  std::raise(SIGTERM);
  EXPECT_EQ(ended, 1);
}

TEST_F(Interrupt, TheOuterHandlerStillWorksAfterANestedOne) {
  const InterruptGuard outer;
  { const InterruptGuard inner; }
  std::raise(SIGTERM);
  EXPECT_TRUE(outer.interrupted());
  EXPECT_EQ(ended, 0);
}

TEST_F(Interrupt, ALaterHandlerStartsWithoutSignals) {
  {
    const InterruptGuard first;
    std::raise(SIGTERM);
  }
  const InterruptGuard second;
  EXPECT_FALSE(second.interrupted());
}

}  // namespace
}  // namespace kmt
