// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/task_notes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kmt {
namespace {

TraceInfo read_again(Notes notes) {
  TraceInfo info;
  info.recording.notes = std::move(notes);
  read_task_notes({}, info);
  return info;
}

TEST(TaskNotes, SeveralNamesOfATaskAreReadBack) {
  TaskNameHistory names;
  names.called_since(7, 10, "sh");
  names.called_since(7, 20, "two words");
  names.called_since(7, 30, "line\nbreak");
  names.called_since(8, 5, "always");
  Notes notes;
  Findings findings;
  note_task_names(names, notes, findings);
  EXPECT_EQ(notes["task_names"], "10 7 sh\n20 7 two words\n");
  const TraceInfo info = read_again(notes);
  EXPECT_EQ(info.tasks.names.at(7, 19), "sh");
  EXPECT_EQ(info.tasks.names.at(7, 20), "two words");
  EXPECT_EQ(info.tasks.names.at(7, 9), std::nullopt);
  EXPECT_EQ(findings.count_of(Imperfection::left_out), 0u);
}

TEST(TaskNotes, StartsAndEndsAreReadBack) {
  TaskLives lives;
  lives.born({7, 1'000'000'000, 3, true, true});
  lives.born({8, 2'000'000'000, -1, true, false});  // -1: the creator has no ID in the recorder's PID namespace
  lives.born({9, 3'000'000'000, 3});
  lives.known(3, {3, 1, 42, "/db.service"}, TaskLives::Noted::at_begin);
  lives.known(4, {3, 0, 0, ""}, TaskLives::Noted::later);
  Notes notes;
  Findings findings;
  note_task_lives(lives, notes, findings);
  EXPECT_EQ(notes["task_births"], "1000000000 7 3 thread\n2000000000 8 0 process\n3000000000 9 3\n");
  const TraceInfo info = read_again(notes);
  const TaskLife* const thread = info.tasks.lives.life_at(7, 1'500'000'000);
  ASSERT_NE(thread, nullptr);
  EXPECT_TRUE(thread->is_thread);
  EXPECT_EQ(thread->creator, 3);
  const TaskLife* const process = info.tasks.lives.life_at(8, 2'500'000'000);
  ASSERT_NE(process, nullptr);
  EXPECT_TRUE(process->knows_kind && !process->is_thread);
  const TaskLife* const unknown = info.tasks.lives.life_at(9, 3'500'000'000);
  ASSERT_NE(unknown, nullptr);
  EXPECT_FALSE(unknown->knows_kind);
  ASSERT_NE(info.tasks.lives.known_at_begin(3), nullptr);
  EXPECT_EQ(info.tasks.lives.known_at_begin(3)->cgroup, "/db.service");
  EXPECT_EQ(info.tasks.lives.known_at_begin(3)->parent, 1);
  ASSERT_NE(info.tasks.lives.known_later(4), nullptr);
  EXPECT_EQ(info.tasks.lives.known_later(4)->group, 3);
}

TEST(TaskNotes, MovesToCgroupsCount) {
  const TraceInfo info = read_again({{"cgroup_moves", "10 7 /first\n20 7 /two words\nx 7 /none\n30\n"}});
  EXPECT_EQ(info.tasks.lives.moved_to(7, 0, 9), "");
  EXPECT_EQ(info.tasks.lives.moved_to(7, 0, 10), "/first");
  EXPECT_EQ(info.tasks.lives.moved_to(7, 0, 100), "/two words");
  EXPECT_EQ(info.tasks.lives.moved_to(7, 21, 100), "") << "another task with this id";
}

TEST(TaskNotes, InvalidLinesAreSkipped) {
  const TraceInfo info = read_again({{"task_births", "\n5\n5 6\nx 6 1 thread\n10 6 -1 thread\n10 11 1 something\n"},
                                     {"task_names", "1\n1 2\n-1 2 a\n99999999999999999999 2 b\n3 2 c"}});
  EXPECT_EQ(info.tasks.lives.life_at(6, 100), nullptr);
  const TaskLife* const other = info.tasks.lives.life_at(11, 100);
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(other->knows_kind);
  EXPECT_EQ(info.tasks.names.at(2, 3), "c");
}

TEST(TaskNotes, DataBeyondTheLimitIsDroppedAndReported) {
  TaskNameHistory names;
  constexpr std::uint64_t kChanges = 300'000;  // number of renames of each task
  for (std::uint64_t i = 0; i < kChanges; ++i)
    for (const int tid : {1, 2}) names.called_since(tid, i + 1, i % 2 == 0 ? "even" : "odd");
  Notes notes;
  Findings findings;
  note_task_names(names, notes, findings);
  EXPECT_EQ(findings.count_of(Imperfection::left_out), 1u);
  const TraceInfo info = read_again(notes);
  for (const int tid : {1, 2}) EXPECT_EQ(info.tasks.names.at(tid, 200'000), "odd");
}

}  // namespace
}  // namespace kmt
