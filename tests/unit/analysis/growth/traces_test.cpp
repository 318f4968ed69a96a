// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how an investigation uses a recording, with hand-made events.
#include "analysis/growth/traces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "analysis/growth/clusters.hpp"
#include "analysis/report/report.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class Sites : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "site_" + std::to_string(address) + "+0x1"; }
};

class TraceGrowth : public testing::Test {
 protected:
  TraceGrowth() {
    info.machine.page_size = 4096;
    info.machine.cpus = 1;
    info.machine.kernel = "6.1.0";
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0, 1, 2};
    info.tasks.names.called_since(kHolder, 0, "holder");
    for (int i = 0; i < kVisitors; ++i) info.tasks.names.called_since(kVisitor + i, 0, "visitor");
  }

  void allocate(std::uint64_t time_ns, std::int32_t task, std::uint64_t address) {
    Event event{};
    event.kind = EventKind::kmalloc;
    event.time_ns = time_ns;
    event.tid = task;
    event.address = address;
    event.call_site = {1};
    event.bytes_requested = event.bytes_allocated = 192;
    event.node = kNoNode;
    events.push_back(event);
  }
  // Allocates a hundred objects per second for ten seconds.
  void hold() {
    for (std::uint64_t i = 0; i < 1000; ++i) allocate(i * kSecond / 100, kHolder, 0x1000000 + i * 192);
  }
  // Allocates ten objects per second at ten addresses, each time in another task. The addresses are reused although no
  // free was traced.
  void visit() {
    for (std::uint64_t i = 0; i < kVisitors; ++i)
      allocate(i * kSecond / 10, kVisitor + static_cast<std::int32_t>(i), 0x2000000 + i % 10 * 192);
  }
  const GrowthGroup* group_of(const GrowthSeen& seen, const std::string& task) const {
    const auto found = std::ranges::find(seen.groups, task, &GrowthGroup::task);
    return found == seen.groups.end() ? nullptr : &*found;
  }
  GrowthSeen seen() {
    std::ranges::stable_sort(events, {}, &Event::time_ns);
    // Frees an object from before the trace, so that the trace contains a free.
    Event other{};
    other.kind = EventKind::kfree;
    other.time_ns = 10 * kSecond;
    other.address = 0x100;
    events.push_back(other);
    const Sites names;
    ReportRequest request;
    request.by = keys_of_growth(false);
    request.history = request.history_of_live = true;
    ReportAnalysis analysis(info, names, request);
    analysis.add(events);
    return trace_growth(analysis.finish(true));
  }

  static constexpr std::int32_t kHolder = 10;
  static constexpr std::int32_t kVisitor = 100;
  static constexpr int kVisitors = 100;
  TraceInfo info;
  EventBatch events;
};

TEST_F(TraceGrowth, UntracedFreesByOtherTasksDoNotHideTheHolder) {
  hold();
  visit();
  const GrowthSeen growth = seen();
  const GrowthGroup* const holder = group_of(growth, "holder");
  ASSERT_NE(holder, nullptr);
  EXPECT_FALSE(holder->excluded);
  EXPECT_EQ(holder->objects, 1000);
  EXPECT_NEAR(holder->live.back(), 1000 * 192, 1);
  EXPECT_NEAR(holder->live[holder->live.size() / 2], 500 * 192, 50 * 192);
}

// If each task were considered alone, it would seem to hold an object.
TEST_F(TraceGrowth, TasksWithUntracedFreesHoldNothing) {
  hold();
  visit();
  const GrowthSeen growth = seen();
  const GrowthGroup* const visitor = group_of(growth, "visitor");
  ASSERT_NE(visitor, nullptr);
  EXPECT_TRUE(visitor->excluded);
  EXPECT_NEAR(visitor->live.back(), 0, 1);
}

TEST_F(TraceGrowth, ObjectsFreedDuringALossStayUncertain) {
  hold();
  visit();
  info.losses.intervals = {{0, 7, 0, 9 * kSecond}};
  const GrowthSeen growth = seen();
  EXPECT_TRUE(group_of(growth, "holder")->excluded);
}

// If memory is charged to version 1 cgroups, a process may be in the root cgroup of version 2. Its version 1 cgroup is
// then shown. Cgroups known from samples replace those of the recording.
TEST_F(TraceGrowth, ProcessesHaveTheirCgroups) {
  hold();
  visit();
  KnownProcess holder;
  holder.group = kHolder;
  holder.cgroup = "/system.slice/holder.service";
  info.tasks.lives.known(kHolder, holder, TaskLives::Noted::at_begin);
  KnownProcess visitor;
  visitor.cgroup = "/";
  for (int i = 0; i < kVisitors; ++i) {
    visitor.group = kVisitor + i;
    info.tasks.lives.known(visitor.group, visitor, TaskLives::Noted::at_begin);
  }
  GrowthSeen growth = seen();
  ASSERT_NE(group_of(growth, "holder"), nullptr);
  ASSERT_NE(group_of(growth, "visitor"), nullptr);
  EXPECT_EQ(group_of(growth, "holder")->cgroup, "/system.slice/holder.service");
  EXPECT_EQ(group_of(growth, "visitor")->cgroup, "/");
  GrowthSeen of_version_1 = growth;
  name_memory_cgroups({{kVisitor, "/visits"}, {kHolder, "/of-version-1"}}, of_version_1);
  EXPECT_EQ(group_of(of_version_1, "holder")->cgroup, "/system.slice/holder.service");
  for (const GrowthGroup& group : of_version_1.groups)
    if (group.task == "visitor") {
      EXPECT_EQ(group.cgroup, group.process == kVisitor ? "/visits" : "");
    }
  GrowthSeen samples;
  GrowthGroup sampled = *group_of(growth, "visitor");
  sampled.cgroup = "/visitors";
  samples.groups.push_back(sampled);
  clusters_of(&samples, &growth);
  EXPECT_EQ(group_of(growth, "visitor")->cgroup, "/visitors");
  EXPECT_EQ(group_of(growth, "holder")->cgroup, "/system.slice/holder.service");
}

TEST_F(TraceGrowth, ThreadsAreGroupedUnderTheNameOfTheirProcess) {
  GrowthSeen seen;
  for (const auto& [task, process, bytes] :
       {std::tuple{"worker-1", 7u, 10.0}, {"worker-2", 7u, 30.0}, {"bash", 8u, 1.0}}) {
    GrowthGroup& group = seen.groups.emplace_back();
    group.task = task;
    group.process = process;
    group.bytes = bytes;
  }
  GrowthSeen ended = seen;
  name_processes([](std::uint32_t process) { return process == 7 ? "server" : "sh"; }, seen);
  EXPECT_EQ((std::vector{seen.groups[0].task, seen.groups[1].task, seen.groups[2].task}),
            (std::vector<std::string>{"server", "server", "sh"}));
  EXPECT_EQ(seen.groups[0].thread, "worker-1");
  EXPECT_EQ(seen.groups[2].thread, "bash");  // the process has several threads, but only this thread allocates
  name_processes([](std::uint32_t) { return ""; }, ended);
  EXPECT_EQ(ended.groups[0].task, "worker-2");
  EXPECT_EQ(ended.groups[1].thread, "");
  EXPECT_EQ(ended.groups[2].task, "bash");
}

}  // namespace
}  // namespace kmt
