// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(Clock, GoesForward) {
  const std::uint64_t before = monotonic_ns();
  EXPECT_GE(monotonic_ns(), before);
  EXPECT_GE(seconds_since(std::chrono::steady_clock::now()), 0);
}

}  // namespace
}  // namespace kmt
