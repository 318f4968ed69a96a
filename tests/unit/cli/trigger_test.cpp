// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the conditions of `record --trigger`.
#include "cli/record/trigger.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace kmt {
namespace {

TEST(TriggerCondition, OomWaitsForAKill) {
  Trigger trigger("oom");
  EXPECT_TRUE(trigger.waits_for_oom());
  EXPECT_FALSE(trigger.wants_failures());
  EXPECT_EQ(trigger.what_happened(), "the OOM killer killed a process");
}

TEST(TriggerCondition, OnlyTheWordMeansAKill) {
  Trigger counter("oom_kill+0");
  EXPECT_FALSE(counter.waits_for_oom());
  EXPECT_FALSE(counter.wants_failures());
  EXPECT_NE(counter.what_happened(), "the OOM killer killed a process");
  Trigger failure("failure");
  EXPECT_FALSE(failure.waits_for_oom());
  EXPECT_TRUE(failure.wants_failures());
  for (const char* const word : {"OOM", "oom ", "oom+1", "ooms", ""}) EXPECT_THROW(Trigger{word}, Error) << word;
}

}  // namespace
}  // namespace kmt
