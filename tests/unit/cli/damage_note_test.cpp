// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the notes about a trace that are printed on standard error.
#include "cli/input/damage_note.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

std::string said_of_cgroups(const std::map<std::string, std::string>& notes) {
  TraceInfo info;
  info.recording.notes = notes;
  testing::internal::CaptureStderr();
  say_lack_of_cgroups(info);
  return testing::internal::GetCapturedStderr();
}

// The note is printed only if all tasks in the recording are in the root cgroup, not only those in a report's rows.
TEST(LackOfCgroups, IsReportedIfAllTasksAreInTheRoot) {
  EXPECT_NE(said_of_cgroups({{"tasks", "1 0 4026531836 /\n2 0 4026531836 /\n"}}).find("root cgroup"),
            std::string::npos);
  EXPECT_EQ(said_of_cgroups({{"tasks", "1 0 4026531836 /\n7 1 4026531836 /db.service\n"}}), "");
  EXPECT_EQ(said_of_cgroups({{"tasks", "1 0 4026531836 /\n"}, {"tasks_later", "9 1 4026531836 /late\n"}}), "");
  // A trace.dat or a perf.data has no notes about tasks.
  EXPECT_EQ(said_of_cgroups({}), "");
  EXPECT_EQ(said_of_cgroups({{"tasks", "1 0 4026531836 \n"}}), "");
}

TEST(LackOfCgroups, IsNotReportedIfTasksMoved) {
  TraceInfo info;
  info.recording.notes["tasks"] = "1 0 4026531836 /\n";
  info.tasks.lives.moved(7, 10, "/db.service");
  testing::internal::CaptureStderr();
  say_lack_of_cgroups(info);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace kmt
