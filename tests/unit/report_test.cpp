// SPDX-License-Identifier: GPL-2.0-or-later
// The report's rules on hand-made events; tests/oracle has real traces.
#include "analysis/report.hpp"

#include <gtest/gtest.h>

#include "analysis/check.hpp"
#include "analysis/memory_state.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return std::to_string(address); }
};

class Report : public testing::Test {
 protected:
  Report() {
    info.page_size = 4096;
    info.cpus = 2;
    info.kernel = "6.1.0";
    info.event_types = {{"kmem", "some_event", EventKind::other}};
    info.call_sites = {0, 0x1000, 0x2000};
    info.comms = {{7, "worker"}, {8, "other"}};
  }

  Event& add(EventKind kind, std::uint64_t address, std::int32_t tid = 7, unsigned cpu = 0) {
    Event event{};
    event.kind = kind;
    event.address = address;
    event.tid = tid;
    event.cpu = static_cast<std::uint16_t>(cpu);
    event.time_ns = 100 * (events.size() + 1);
    event.node = kNoNode;
    if (is_slab_alloc(kind)) {
      event.call_site = {1};
      event.bytes_requested = 100;
      event.bytes_allocated = 128;
    }
    events.push_back(event);
    return events.back();
  }

  ReportResult report(ReportFilter filter = {}) {
    ReportAnalysis analysis(info, std::move(filter));
    analysis.add(events);
    return analysis.finish(NoNames());
  }

  TraceInfo info;
  EventBatch events;
};

std::uint64_t anomaly(const ReportResult& result, const std::string& id) {
  for (const auto& [name, count] : result.anomalies)
    if (name == id) return count;
  return 0;
}

TEST_F(Report, AFreeBelongsToItsAllocationWhoeverFreesIt) {
  add(EventKind::kmalloc, 0x10000, 7, 0);
  add(EventKind::kmalloc, 0x20000, 8, 0);
  add(EventKind::kfree, 0x10000, 8, 1);
  add(EventKind::kfree, 0x30000, 7, 1);
  ReportFilter filter;
  filter.pids = {7};
  const ReportResult result = report(filter);
  EXPECT_EQ(result.slab.allocations, 1u);
  EXPECT_EQ(result.slab.matched_frees, 1u);
  EXPECT_EQ(result.slab.cross_cpu_frees, 1u);
  EXPECT_EQ(result.slab.unmatched_frees, 1u);
  EXPECT_EQ(result.slab.live_allocations, 0u);
  EXPECT_EQ(result.trace.events, 2u);  // what task 7 did itself
}

TEST_F(Report, AnInterruptIsNotTheTaskItInterrupted) {
  add(EventKind::kmalloc, 0x10000).context = Context::kSoftIrq;
  add(EventKind::kmalloc, 0x20000);
  ReportFilter by_name;
  by_name.comms = {"[softirq]"};
  EXPECT_EQ(report(by_name).slab.allocations, 1u);
  by_name.comms = {"work*"};
  EXPECT_EQ(report(by_name).slab.allocations, 1u);
  ReportFilter by_pid;
  by_pid.pids = {7};
  EXPECT_EQ(report(by_pid).slab.allocations, 1u);
}

TEST_F(Report, ATimeWindowIsAllThatIsSeen) {
  add(EventKind::kmalloc, 0x10000);
  add(EventKind::kfree, 0x10000);
  ReportFilter filter;
  filter.from_ns = 200;
  const ReportResult result = report(filter);
  EXPECT_EQ(anomaly(result, "allocated_before_trace"), 1u);
  EXPECT_EQ(result.slab.allocations, 0u);
}

TEST_F(Report, CrossNodeIsUnknownWithoutNodesAndCountedWithThem) {
  add(EventKind::kmalloc, 0x10000, 7, 1).node = 0;
  add(EventKind::kmalloc, 0x20000, 7, 1).node = 1;
  add(EventKind::kmalloc, 0x30000, 7, 1);
  EXPECT_EQ(report().slab.cross_node_allocations, std::nullopt);
  info.cpu_nodes = {0, 1};
  EXPECT_EQ(report().slab.cross_node_allocations, 1u);
}

TEST_F(Report, PagesAreFramesAndFailuresAreNot) {
  add(EventKind::page_alloc, 64).order = 2;
  add(EventKind::page_free, 65);
  add(EventKind::page_alloc, kNoPage).order = 3;
  add(EventKind::page_alloc, 1).order = 200;
  const ReportResult result = report();
  EXPECT_EQ(result.pages.allocations, 1u);
  EXPECT_EQ(result.pages.bytes_allocated, 4 * 4096u);
  EXPECT_EQ(result.pages.bytes_freed, 4096u);
  EXPECT_EQ(result.pages.live_bytes, 3 * 4096u);
  EXPECT_EQ(result.pages.failed_allocations, 1u);
  EXPECT_EQ(anomaly(result, "impossible_order"), 1u);
}

// Marks in pages and the kernel's statistics tell of the same loss: the larger counts, in every place that says it.
TEST_F(Report, LossIsTheSameNumberEverywhere) {
  add(EventKind::kmalloc, 0x10000);
  info.lost.push_back({0, 10, 0, 0, {}});
  info.findings.add({Imperfection::lost_events, "10 events", 0, {}, {}}, 10);
  BufferStatistics statistics;
  statistics.cpu = 0;
  statistics.overrun = 25;
  statistics.not_recorded = 5;
  info.buffer_statistics = {statistics};
  info.findings.add({Imperfection::interrupted_recording, "", 0, {}, {}}, 5);
  const ReportResult result = report();
  EXPECT_EQ(result.trace.lost_events, 30u);
  EXPECT_EQ(result.findings.count_of(Imperfection::lost_events), 25u);
  EXPECT_EQ(result.findings.count_of(Imperfection::interrupted_recording), 5u);

  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().findings.count_of(Imperfection::lost_events), 25u);
}

TEST_F(Report, AKfreeOfACacheObjectIsAnAnomalyBefore6Point4Only) {
  add(EventKind::cache_alloc, 0x10000);
  add(EventKind::kfree, 0x10000);
  EXPECT_EQ(anomaly(report(), "freed_by_another_family"), 1u);
  info.kernel = "6.4.1";
  EXPECT_EQ(anomaly(report(), "freed_by_another_family"), 0u);
}

TEST(MemoryState, StartEndAndMostOfEachLine) {
  const auto sample = [](std::uint64_t time, const char* meminfo) {
    return StateSample{time, 0, {{"vmstat", "Slab 7\n"}, {"meminfo", meminfo}}};
  };
  const MemoryState state = memory_state_of({sample(5, "MemTotal: 9 kB\nSlab:    100 kB\nPercpu: 3 kB\n"),
                                             StateSample{6, 0, {{"vmstat", ""}}}, sample(7, "Slab: 300 kB\nBad\n:\n"),
                                             sample(9, "Slab: 200 kB\nPercpu: kB\nSUnreclaim: 1 kB\n")});
  EXPECT_EQ(state.samples, 3u);
  EXPECT_EQ(state.first_ns, 5u);
  EXPECT_EQ(state.last_ns, 9u);
  ASSERT_EQ(state.rows.size(), 2u);
  EXPECT_EQ(state.rows[0].name, "Slab");
  EXPECT_EQ(state.rows[0].first, 102400u);
  EXPECT_EQ(state.rows[0].last, 204800u);
  EXPECT_EQ(state.rows[0].most, 307200u);
  EXPECT_EQ(state.rows[1].last, 3072u);
  EXPECT_EQ(memory_state_of({}).samples, 0u);
}

}  // namespace
}  // namespace kmt
