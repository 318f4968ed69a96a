// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the first and the last lines of `leaks` with hand-made results.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "views/text/leaks/gate.hpp"
#include "views/text/leaks/leaks.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class LeaksText : public testing::Test {
 protected:
  LeaksText() {
    result.trace.path = "t.kmt";
    result.trace.events = result.events = 1000;
    result.trace.recorded_ns = result.trace.whole_ns = 10 * kSecond;
    result.trace.clock_in_ns = true;
    result.by = {GroupKey::call_site};
    result.threshold_bytes_per_s = 1000;
    result.judged = 1;
    result.axis = {0, 10 * kSecond, kSecond, 10};
  }

  LeakTable& table(Allocator allocator) { return result.tables.emplace_back(LeakTable{allocator, false, {}, 0}); }

  // Adds a row whose live memory is held by `processes` processes with the same name.
  static void add(LeakTable& table, const std::string& site, LeakVerdict verdict, double bytes_per_s,
                  std::size_t processes = 1) {
    const auto history = std::make_shared<GroupHistory>();
    history->series.resize(10);
    history->holders_in_all = processes;
    history->holders = {{TaskName{7, "mount"}, {1, 1 << 20}}};
    history->names = {{"mount", processes, {processes, processes << 20}}};
    LeakRow& row = table.rows.emplace_back();
    row.group.allocator = table.allocator;
    row.group.keys = {CodeAddress{1, site, {}}};
    row.group.live_allocations = processes;
    row.group.live_bytes = processes << 20;
    row.group.history = history;
    row.verdict = verdict;
    row.trend.growth = verdict == LeakVerdict::past ? Growth::past : Growth::steady;
    row.trend.bytes_per_s = row.trend.low = bytes_per_s;
    row.certain = row.trend;
  }

  void held_by(std::size_t processes) {
    result.worst = LeakVerdict::certain;
    result.causes = {{{TaskName{7, "mount"}, 1, 1 << 20}, result.tables.front().rows.size(), 5000, 0, 0}};
    if (processes > 1) result.causes.front().source = {TaskName{{}, "mount"}, processes, processes << 20};
    result.worst_groups = 1;
    result.worst_bytes = processes << 20;
    result.holders = {{TaskName{7, "mount"}, 1 << 20, 1}};
    result.sources = {{TaskName{7, "mount"}, 1, 1 << 20}};
    if (processes > 1) result.sources = {{TaskName{{}, "mount"}, processes, processes << 20}};
  }

  void expect(const std::string& words, bool shown = true) const {
    const std::string text = text_leaks(result, {}, {});
    EXPECT_EQ(text.find(words) != std::string::npos, shown) << words << "\n" << text;
  }

  LeaksResult result;
};

TEST_F(LeaksText, NamesManyProcessesOfOneNameInsteadOfOne) {
  add(table(Allocator::slab), "alloc_super+0x1", LeakVerdict::certain, 5000, 50);
  held_by(50);
  expect("Growth: 50 processes named mount: alloc_super+0x1 (slab) grows for certain by +4.9 KiB/s");
  expect("mount (50 processes)");
  expect("report t.kmt --comm mount --html page.html`");
  expect("mount-7", false);
  result.sources.front().process.comm = "a; b";
  expect("report t.kmt --html page.html`");
}

TEST_F(LeaksText, NamesTheOnlyProcess) {
  add(table(Allocator::slab), "alloc_super+0x1", LeakVerdict::certain, 5000);
  held_by(1);
  expect(
      "Growth: mount-7: alloc_super+0x1 (slab) grows for certain by +4.9 KiB/s, at least +4.9 KiB/s; 1.0 MiB are "
      "live.");
  expect("--comm", false);
}

TEST_F(LeaksText, SaysWhatRoseAndStopped) {
  LeakTable& slab = table(Allocator::slab);
  add(slab, "sock_alloc+0x1", LeakVerdict::past, 5000);
  expect("sock_alloc+0x1 (slab) rose to 1.0 MiB");
  add(slab, "small+0x1", LeakVerdict::past, 5000, 2);
  expect("2 groups rose and then hardly grew. The largest is");
  result.threshold_bytes_per_s = 1 << 20;
  expect("hardly grew", false);
}

TEST_F(LeaksText, SaysHowManyGrowingGroupsAreNotShown) {
  LeakTable& slab = table(Allocator::slab);
  for (int i = 0; i < 9; ++i) add(slab, "leak+0x1", LeakVerdict::certain, 5000);
  held_by(1);
  expect("Not shown: 3 groups (3 grow).");
}

TEST_F(LeaksText, GroupsOfOneCauseAreOneLine) {
  LeakTable& slab = table(Allocator::slab);
  for (int i = 0; i < 9; ++i) add(slab, "leak+0x1", LeakVerdict::certain, 5000);
  held_by(1);
  result.causes.front().bytes_per_s = 9 * 5000;
  expect("mount-7: 9 groups grow for certain by +43.9 KiB/s in all, the fastest leak+0x1 (slab) by +4.9 KiB/s;");
}

TEST_F(LeaksText, WithoutCertainGrowthNoLeakIsFound) {
  add(table(Allocator::slab), "sock_alloc+0x1", LeakVerdict::uncertain, 5000);
  expect("No leak found: nothing grows for certain. sock_alloc+0x1 (slab) by +4.9 KiB/s may grow");
}

TEST_F(LeaksText, AnIncompleteTraceGetsNoVerdict) {
  add(table(Allocator::slab), "sock_alloc+0x1", LeakVerdict::uncertain, 5000);
  result.tables.front().rows.front().main_doubt = Doubt::incomplete_trace;
  result.incomplete = {Imperfection::truncated_file};
  expect("Growth cannot be judged: the file is shorter than its headers announce. The trace covers 10.000 s.");
  expect("Next: `kmemtrace check t.kmt` shows what is missing");
  expect("No leak found", false);
}

TEST_F(LeaksText, NamesSteadyGrowthBeforeRandomSwings) {
  LeakTable& slab = table(Allocator::slab);
  add(slab, "pool+0x1", LeakVerdict::uncertain, 50000);
  slab.rows.back().trend.low = 5000;
  add(slab, "leak+0x1", LeakVerdict::uncertain, 6000);
  expect("nothing grows for certain. leak+0x1 (slab) by +5.9 KiB/s and 1 other group may grow");
}

TEST_F(LeaksText, GrowthInStepsAsksForALongerTime) {
  LeakTable& slab = table(Allocator::slab);
  add(slab, "do_eventfd+0x1", LeakVerdict::unsure, 0);
  slab.rows.back().steps = 3;
  expect("No certain growth. Unsure: do_eventfd+0x1 (slab) rose by 1.0 MiB in 3 steps. Watch longer");
  expect("No leak found", false);
}

TEST_F(LeaksText, EachVerdictHasANextStep) {
  expect("Next: `kmemtrace record --stacks --duration 10m`");
  add(table(Allocator::slab), "sock_alloc+0x1", LeakVerdict::too_short, 0);
  result.judged = 0;
  expect("Next: `kmemtrace record --stacks --duration 5m` records for long enough.");
  result.trace.clock_in_ns = false;
  expect("Next: `kmemtrace record --stacks --duration 5m` uses a clock");
  result.trace.lost_events = 2000;
  expect("Next: `kmemtrace record -b 64M");
  result.trace.events = 0;
  expect("Next: `kmemtrace record --stacks --duration 5m` records events.");
}

TEST_F(LeaksText, BriefReportsHaveAtMost60Lines) {
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    LeakTable& of = table(allocator);
    of.older_frees = 5;
    for (int i = 0; i < 9; ++i) add(of, "leak+0x1", LeakVerdict::certain, 5000);
  }
  held_by(1);
  for (int i = 0; i < 20; ++i) result.anomalies.emplace_back("anomaly " + std::to_string(i), 1);
  const std::string text = text_leaks(result, {}, {});
  EXPECT_LE(std::ranges::count(text, '\n'), 60) << text;
}

TEST_F(LeaksText, SlowGrowthOfReclaimableMemoryIsNotCounted) {
  LeakTable& slab = table(Allocator::slab);
  add(slab, "inode+0x1", LeakVerdict::explained, 5000);
  add(slab, "dentry+0x1", LeakVerdict::explained, 10);
  expect("No leak found: all growth is of an expected kind: inode+0x1 (slab) by +4.9 KiB/s.");
}

TEST_F(LeaksText, AGateComparesCertainBytesOfEachAllocator) {
  LeakTable& slab = table(Allocator::slab);
  add(slab, "small <&>", LeakVerdict::too_short, 0, 1);  // 1 MiB
  add(slab, "large", LeakVerdict::too_short, 0, 3);
  add(slab, "cached", LeakVerdict::explained, 0, 50);
  slab.rows.back().doubtful = {50, 50 << 20};
  add(table(Allocator::pages), "doubtful", LeakVerdict::too_short, 0, 4);
  LeakRow& lost = result.tables.back().rows.back();
  lost.doubtful = {2, 2 << 20};
  const auto history = std::make_shared<GroupHistory>(*lost.group.history);
  history->doubtful[static_cast<std::size_t>(Doubt::lost_stretch)] = {2, 2 << 20};
  lost.group.history = history;

  const auto gate_at = [this](std::uint64_t mib) { return gate_of(result, mib << 20); };
  EXPECT_EQ(gate_at(4).verdict(), GateVerdict::passed) << "4 MiB of objects, and 2 to 4 MiB of pages";
  EXPECT_EQ(gate_at(3).checks[0].verdict, GateVerdict::failed);
  EXPECT_EQ(gate_at(3).checks[1].verdict, GateVerdict::unclear);
  EXPECT_EQ(gate_at(3).verdict(), GateVerdict::failed);
  EXPECT_EQ(gate_at(1).checks[1].verdict, GateVerdict::failed);
  EXPECT_EQ(gate_lines(gate_at(3), result, TextStyle()).find("Limit exceeded: slab objects: 4.0 MiB stayed allocated"),
            0u);
  EXPECT_NE(gate_lines(gate_at(3), result, TextStyle()).find("large (slab) with 3.0 MiB"), std::string::npos);
  const std::string xml = junit_gate(gate_at(3), result);
  EXPECT_NE(xml.find(R"(tests="2" failures="1" errors="1")"), std::string::npos) << xml;
  EXPECT_NE(xml.find("1.0 MiB in small &lt;&amp;&gt; (slab)"), std::string::npos) << xml;
  // nothing stayed allocated
  EXPECT_NE(junit_gate(GrowthGate{}, result).find(R"(tests="1" failures="0" errors="0")"), std::string::npos);
  result.trace.lost_events = 1;  // an allocation may be lost
  EXPECT_EQ(gate_at(100).verdict(), GateVerdict::unclear);
  result.trace.lost_events = 0;
  result.bytes_not_followed = 200 << 20;
  EXPECT_EQ(gate_at(100).verdict(), GateVerdict::unclear);
  EXPECT_NE(junit_gate(gate_at(100), result).find(R"(tests="3" failures="0" errors="1")"), std::string::npos);
}

}  // namespace
}  // namespace kmt
