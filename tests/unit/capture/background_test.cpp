// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/background.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(Background, ReturnsTheResultOfAnotherThread) {
  const std::thread::id here = std::this_thread::get_id();
  Background<bool> elsewhere("a thread", [here] { return std::this_thread::get_id() != here; });
  EXPECT_TRUE(elsewhere.get());
}

TEST(Background, ThrowsTheExceptionOfTheFunction) {
  Background<void> failing("a thread", [] { throw std::runtime_error("it failed"); });
  try {
    failing.get();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "it failed");
  }
}

TEST(Background, DestructorWaitsForTheFunction) {
  std::atomic<bool> may_end = false;
  std::atomic<bool> ended = false;
  {
    const Background<void> work("a thread", [&] {
      may_end.wait(false);
      ended = true;
    });
    may_end = true;
    may_end.notify_all();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace kmt
