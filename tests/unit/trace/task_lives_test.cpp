// SPDX-License-Identifier: GPL-2.0-or-later
// Tests to which process an ID refers at a time, which process started it, and its cgroup.
#include <gtest/gtest.h>

#include "trace/tasks/processes.hpp"

namespace kmt {
namespace {

TaskLife birth(std::int32_t tid, std::uint64_t born_ns, std::int32_t creator) { return {tid, born_ns, creator, true}; }

TaskLife thread(std::int32_t tid, std::uint64_t born_ns, std::int32_t creator) {
  return {tid, born_ns, creator, true, true};
}

TEST(TaskLives, EachCreationStartsANewTaskWithTheId) {
  TraceTasks tasks;
  tasks.lives.born(birth(300, 2000, 10));
  tasks.lives.born(birth(300, 1000, 11));  // births are added out of order, because CPUs are read one after the other
  EXPECT_EQ(process_at(tasks, 300, 999).life, nullptr);
  EXPECT_EQ(process_at(tasks, 300, 1000).life->creator, 11);
  EXPECT_EQ(process_at(tasks, 300, 1999).life->creator, 11);
  EXPECT_EQ(process_at(tasks, 300, 2000).life->creator, 10);
  EXPECT_TRUE(tasks.lives.is_used_again(300));
  EXPECT_FALSE(tasks.lives.is_used_again(10));
}

TEST(TaskLives, ATaskFromBeforeTheTraceIsDifferent) {
  TraceTasks tasks;
  tasks.lives.born(birth(300, 1000, 10));
  EXPECT_FALSE(tasks.lives.is_used_again(300));
  tasks.lives.known(300, {300, 1, 0, "/old"}, TaskLives::Noted::at_begin);
  EXPECT_TRUE(tasks.lives.is_used_again(300));
  tasks.lives.known(300, {300, 10, 0, "/new"}, TaskLives::Noted::later);
  EXPECT_EQ(cgroup_of(tasks, process_at(tasks, 300, 999), 999), "/old");
  EXPECT_EQ(cgroup_of(tasks, process_at(tasks, 300, 1001), 1001), "") << "it is unknown which of the two ended";
}

// The kernel's files were read before the first events, and again after the last ones.
TEST(TaskLives, TasksCreatedBetweenReadingsHaveTheReportedData) {
  TraceTasks tasks;
  tasks.lives.known(300, {300, 10, 0, "/job"}, TaskLives::Noted::meanwhile);
  tasks.lives.known(301, {301, 10, 0, "/job"}, TaskLives::Noted::meanwhile);
  tasks.lives.known(302, {302, 10, 0, "/other"}, TaskLives::Noted::meanwhile);
  tasks.lives.known(302, {302, 10, 0, "/begin"}, TaskLives::Noted::at_begin);
  tasks.lives.born(birth(301, 1000, 300));
  EXPECT_EQ(cgroup_of(tasks, process_at(tasks, 300, 5), 5), "/job");
  EXPECT_EQ(cgroup_of(tasks, process_at(tasks, 302, 5), 5), "/begin");
  EXPECT_FALSE(tasks.lives.is_used_again(301)) << "the creation is in the trace, before the second reading";
  EXPECT_EQ(oldest_ancestor(tasks, process_at(tasks, 301, 1001)).pid, 300);
}

TEST(TaskLives, BothEventsOfACreationCountOnce) {
  TraceTasks tasks;
  tasks.lives.born(thread(301, 1000, 300));
  tasks.lives.born({301, 1200, 300});  // sched_process_fork
  EXPECT_FALSE(tasks.lives.is_used_again(301));
  EXPECT_EQ(process_at(tasks, 301, 5000).pid, 300);
  tasks.lives.born({301, 900'000'000, 300});
  EXPECT_TRUE(tasks.lives.is_used_again(301));
}

// perf stores forks separately from events, so the fork of a task may be read after events of this task.
TEST(TaskLives, ALaterEventMayReportAKnownCreation) {
  TraceTasks tasks;
  TaskLife first = birth(300, 2000, 10);
  first.begins_pid_space = true;
  tasks.lives.born(first);
  const TaskLife* const known = tasks.lives.life_at(300, 2000);
  tasks.lives.born(birth(300, 1000, 10));
  EXPECT_FALSE(tasks.lives.is_used_again(300));
  EXPECT_EQ(tasks.lives.life_at(300, 1000), known) << "the same task";
  EXPECT_EQ(known->born_ns, 1000u);
  EXPECT_TRUE(known->begins_pid_space);
  EXPECT_EQ(tasks.lives.life_at(300, 999), nullptr);
  tasks.lives.born(birth(300, 1500, 11));
  EXPECT_TRUE(tasks.lives.is_used_again(300)) << "created by another task";
}

TEST(TaskLives, AThreadBelongsToTheProcessOfItsTime) {
  TraceTasks tasks;
  tasks.lives.born(birth(300, 1000, 10));
  tasks.lives.born(thread(301, 1500, 300));
  tasks.lives.born(thread(302, 1600, 301));
  tasks.lives.born(birth(300, 5000, 20));
  const Process process = process_at(tasks, 302, 6000);
  EXPECT_EQ(process.pid, 300);
  ASSERT_NE(process.life, nullptr);
  EXPECT_EQ(process.life->born_ns, 1000u) << "not the later task with that id";
}

TEST(TaskLives, ThreadsAtTheStartAreKnown) {
  TraceTasks tasks;
  tasks.lives.known(300, {300, 1, 0, "/a"}, TaskLives::Noted::at_begin);
  tasks.lives.known(301, {300, 0, 0, ""}, TaskLives::Noted::at_begin);
  tasks.thread_groups = {{300, 300}, {301, 301}};  // the process that has the ID at the end of the recording
  EXPECT_EQ(process_at(tasks, 301, 5).pid, 300);
}

TEST(TaskLives, TasksAtTheStartMayHaveChildren) {
  TraceTasks tasks;
  tasks.lives.known(10, {10, 1, 0, "/make"}, TaskLives::Noted::at_begin);
  tasks.lives.born(birth(300, 1000, 10));
  tasks.lives.born(birth(301, 1500, 300));
  tasks.lives.born(birth(300, 2000, 99));  // the parent of 301 has ended
  EXPECT_EQ(oldest_ancestor(tasks, process_at(tasks, 301, 3000)).pid, 10);
  EXPECT_EQ(oldest_ancestor(tasks, process_at(tasks, 300, 3000)).pid, 99);
  EXPECT_EQ(oldest_ancestor(tasks, {10, nullptr}).pid, 10);
}

TEST(TaskLives, ChildrenStartInTheCurrentCgroupOfTheirParent) {
  TraceTasks tasks;
  tasks.lives.known(10, {10, 1, 0, "/a"}, TaskLives::Noted::at_begin);
  tasks.lives.born(birth(300, 1000, 10));
  tasks.lives.moved(10, 1500, "/b");
  tasks.lives.born(birth(301, 2000, 10));
  tasks.lives.moved(301, 2500, "/c");
  const auto cgroup = [&](std::int32_t tid, std::uint64_t time) {
    return cgroup_of(tasks, process_at(tasks, tid, time), time);
  };
  EXPECT_EQ(cgroup(300, 9000), "/a");
  EXPECT_EQ(cgroup(301, 2400), "/b");
  EXPECT_EQ(cgroup(301, 2500), "/c");
  EXPECT_EQ(cgroup(10, 1499), "/a");
  EXPECT_EQ(cgroup(10, 9000), "/b");
  tasks.lives.born(birth(301, 3000, 300));
  EXPECT_EQ(cgroup(301, 3500), "/a") << "the earlier task with the id was moved";
}

TEST(TaskLives, CirclesOfParentsEnd) {
  TraceTasks tasks;
  tasks.lives.born(thread(300, 1000, 301));
  tasks.lives.born(thread(301, 1000, 300));
  tasks.lives.born(birth(400, 1000, 401));
  tasks.lives.born(birth(401, 1000, 400));
  process_at(tasks, 300, 2000);
  oldest_ancestor(tasks, process_at(tasks, 400, 2000));
  EXPECT_EQ(cgroup_of(tasks, process_at(tasks, 400, 2000), 2000), "");
  EXPECT_EQ(container_of(tasks, process_at(tasks, 400, 2000), 2000), "");
}

TEST(TaskLives, ChildrenAreInTheUnsharedPidNamespace) {
  constexpr std::uint64_t kFirst = 0xEFFFFFFC;
  TraceTasks tasks;
  tasks.lives.known(10, {10, 1, kFirst, "/"}, TaskLives::Noted::at_begin);
  tasks.lives.born(birth(300, 1000, 10));
  tasks.lives.born(birth(301, 10'000'000, 300));
  tasks.lives.born(birth(302, 30'000'000, 300));
  tasks.lives.born(birth(303, 40'000'000, 302));
  tasks.lives.born(birth(304, 50'000'000, 300));
  MadePidSpaces made;
  made.made(300, 20'000'000);
  const auto container = [&](std::int32_t tid) {
    return container_of(tasks, process_at(tasks, tid, 60'000'000), 60'000'000, made);
  };
  EXPECT_EQ(container(300), "[host]");
  EXPECT_EQ(container(301), "[host]") << "created before the trace";
  EXPECT_EQ(container(302), "[pid space of 302]");
  EXPECT_EQ(container(303), "[pid space of 302]");
  EXPECT_EQ(container(304), "[pid space of 302]");
}

TEST(TaskLives, ThePidNamespaceOfAClonedChildDoesNotAffectSiblings) {
  TraceTasks tasks;
  tasks.lives.known(10, {10, 1, 0xEFFFFFFC, "/"}, TaskLives::Noted::at_begin);
  TaskLife cloned = birth(300, 20'000'000, 10);
  cloned.begins_pid_space = true;
  tasks.lives.born(cloned);
  tasks.lives.born(birth(301, 30'000'000, 10));
  MadePidSpaces made;
  made.made(10, 10'000'000);
  EXPECT_EQ(container_of(tasks, process_at(tasks, 300, 40'000'000), 40'000'000, made), "[pid space of 300]");
  EXPECT_EQ(container_of(tasks, process_at(tasks, 301, 40'000'000), 40'000'000, made), "[host]");
}

TEST(TaskLives, ContainersAreRecognisedByPidNamespaces) {
  TraceTasks tasks;
  tasks.lives.known(10, {10, 1, 4026531836, "/a"}, TaskLives::Noted::at_begin);
  tasks.lives.known(11, {11, 1, 4026532999, "/a"}, TaskLives::Noted::at_begin);
  EXPECT_EQ(container_of(tasks, {10, nullptr}, 5), "[host]");
  EXPECT_EQ(container_of(tasks, {11, nullptr}, 5), "[pid space 4026532999]");
  tasks.lives.born(birth(200, 1000, 10));
  tasks.lives.born(birth(201, 1100, 200));
  EXPECT_EQ(container_of(tasks, process_at(tasks, 200, 2000), 2000), "[host]");
  EXPECT_EQ(container_of(tasks, process_at(tasks, 201, 2000), 2000), "[host]")
      << "like the task that created its parent";
  EXPECT_EQ(container_of(tasks, {12, nullptr}, 5), "") << "an unknown process";
  tasks.lives.born({300, 1000, 10, true, false, true});
  tasks.lives.born(birth(301, 1500, 300));
  EXPECT_EQ(container_of(tasks, process_at(tasks, 301, 2000), 2000), "[pid space of 300]");
}

}  // namespace
}  // namespace kmt
