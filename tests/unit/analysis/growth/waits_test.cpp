// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the share of the time in which tasks waited for memory. Times in the states are in microseconds.
#include "analysis/growth/waits.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

InvestigatedWaits waits_of(NamedAmounts before, NamedAmounts after, double seconds) {
  KernelMemory first;
  KernelMemory last;
  first.pressure = std::move(before);
  last.pressure = std::move(after);
  InvestigatedWaits waits;
  add_waiting_share(first, last, seconds, waits);
  return waits;
}

TEST(WaitingShare, IsOfTheTimeBetweenTheStates) {
  // 30 s of waits: half of a minute, but little of an hour
  const InvestigatedWaits minute = waits_of({{"some", 5'000'000}}, {{"some", 35'000'000}}, 60);
  EXPECT_DOUBLE_EQ(0.5, minute.some_share.value());
  EXPECT_TRUE(minute.are_long);
  const InvestigatedWaits hour = waits_of({{"some", 5'000'000}}, {{"some", 35'000'000}}, 3600);
  EXPECT_DOUBLE_EQ(1.0 / 120, hour.some_share.value());
  EXPECT_FALSE(hour.are_long);
}

TEST(WaitingShare, ShortBurstsAreNotLong) {
  const InvestigatedWaits burst = waits_of({{"some", 0}}, {{"some", 2'900'000}}, 4);
  EXPECT_DOUBLE_EQ(0.725, burst.some_share.value());
  EXPECT_FALSE(burst.are_long);
  EXPECT_TRUE(waits_of({{"some", 0}}, {{"some", 3'000'000}}, 4).are_long);
  // exactly a tenth of the time, and less
  EXPECT_TRUE(waits_of({{"some", 0}}, {{"some", 6'000'000}}, 60).are_long);
  EXPECT_FALSE(waits_of({{"some", 0}}, {{"some", 5'900'000}}, 60).are_long);
}

TEST(WaitingShare, IsAtMostOne) {
  EXPECT_DOUBLE_EQ(1, waits_of({{"some", 0}}, {{"some", 10'500'000}}, 10).some_share.value());
}

TEST(WaitingShare, IsUnknownWithoutNumbersOrTimes) {
  EXPECT_FALSE(waits_of({}, {{"some", 9'000'000}}, 10).some_share);
  EXPECT_FALSE(waits_of({{"some", 0}}, {{"full", 9'000'000}}, 10).some_share);
  const InvestigatedWaits timeless = waits_of({{"some", 0}}, {{"some", 9'000'000}}, 0);
  EXPECT_FALSE(timeless.some_share);
  EXPECT_FALSE(timeless.are_long);
  EXPECT_FALSE(waits_of({{"some", 0}}, {{"some", 9'000'000}}, -10).some_share);
  // the machine was booted between the states
  EXPECT_FALSE(waits_of({{"some", 9'000'000}}, {{"some", 1'000'000}}, 10).some_share);
}

}  // namespace
}  // namespace kmt
