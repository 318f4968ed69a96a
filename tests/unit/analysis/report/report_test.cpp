// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the rules of the report with hand-made events; tests/oracle uses real traces.
#include "analysis/report/report.hpp"

#include <gtest/gtest.h>

#include <array>

#include "analysis/report/check.hpp"
#include "analysis/series/memory_state.hpp"
#include "base/error.hpp"
#include "results/columns.hpp"
#include "support/documented_keys.hpp"
#include "trace/stack_ids.hpp"
#include "views/json/report.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return std::to_string(address); }
};

class Report : public testing::Test {
 protected:
  Report() {
    info.machine.page_size = 4096;
    info.machine.cpus = 2;
    info.machine.kernel = "6.1.0";
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0, 0x1000, 0x2000};
    info.tasks.comms = {{7, "worker"}, {8, "other"}};
  }

  Event& add(EventKind kind, std::uint64_t address, std::int32_t tid = 7, unsigned cpu = 0) {
    Event event{};
    event.kind = kind;
    event.address = address;
    event.tid = tid;
    event.cpu = static_cast<std::uint16_t>(cpu);
    event.time_ns = 100 * (events.size() + 1);
    event.node = kNoNode;
    if (is_allocation(kind)) {
      event.call_site = {1};
      event.bytes_requested = 100;
      event.bytes_allocated = 128;
    }
    events.push_back(event);
    return events.back();
  }

  ReportResult report(ReportFilter filter = {}) { return report_by({GroupKey::call_site}, std::move(filter)); }
  ReportResult report_by(std::vector<GroupKey> by, ReportFilter filter = {}, const SymbolNames& names = NoNames()) {
    ReportAnalysis analysis(info, names, {std::move(filter), std::move(by), {}});
    analysis.add(events);
    return analysis.finish();
  }

  TraceInfo info;
  EventBatch events;
  const NoNames no_names;
};

std::uint64_t anomaly(const ReportResult& result, const std::string& id) {
  for (const auto& [name, count] : result.anomalies)
    if (name == id) return count;
  return 0;
}

const std::vector<GroupRow>& groups_of(const ReportResult& result, Allocator allocator) {
  for (const GroupTable& table : result.groups)
    if (table.allocator == allocator) return table.rows;
  static const std::vector<GroupRow> kNone;
  return kNone;
}

TEST_F(Report, AFreeByAnyTaskBelongsToItsAllocation) {
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
  EXPECT_EQ(result.trace.events, 2u);  // counts only the events of task 7 itself
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

TEST_F(Report, EventsOutsideATimeWindowAreIgnored) {
  add(EventKind::kmalloc, 0x10000);
  add(EventKind::kfree, 0x10000);
  ReportFilter filter;
  filter.from = TimeEdge{200};
  const ReportResult result = report(filter);
  EXPECT_EQ(anomaly(result, "allocated_before_trace"), 1u);
  EXPECT_EQ(result.slab.allocations, 0u);
}

// The window is [400, 800) ns. Each object of 128 bytes is in exactly one class, or in none.
TEST_F(Report, AWindowSortsAllocationsByTheirTimes) {
  const auto at = [this](std::uint64_t time_ns, EventKind kind, std::uint64_t address) {
    add(kind, address).time_ns = time_ns;
  };
  at(100, EventKind::kmalloc, 0x1000);  // freed before the window
  at(110, EventKind::kmalloc, 0x2000);  // freed in it
  at(120, EventKind::kmalloc, 0x3000);  // freed after it
  at(130, EventKind::kmalloc, 0x4000);  // never freed
  at(399, EventKind::kfree, 0x1000);
  at(400, EventKind::kfree, 0x2000);
  at(400, EventKind::kmalloc, 0x5000);  // freed in it
  at(500, EventKind::kmalloc, 0x6000);  // its address is allocated again in the window
  at(600, EventKind::kmalloc, 0x6000);  // freed at the end, which is after the window
  at(610, EventKind::kmalloc, 0x7000);  // never freed
  at(799, EventKind::kfree, 0x5000);
  at(800, EventKind::kfree, 0x6000);
  at(800, EventKind::kmalloc, 0x8000);  // after the window
  at(900, EventKind::kfree, 0x3000);
  const auto classes_in = [this](TimeWindow window) {
    ReportRequest request;
    request.window = window;
    ReportAnalysis analysis(info, no_names, std::move(request));
    analysis.add(events);
    return groups_of(analysis.finish(), Allocator::slab).at(0).window.value();
  };
  const WindowClasses classes = classes_in({TimeEdge{400}, TimeEdge{800}});
  EXPECT_EQ(classes.left_live, (LiveCount{2, 256}));
  EXPECT_EQ(classes.freed_inside, (LiveCount{2, 256}));
  EXPECT_EQ(classes.freed_older, (LiveCount{1, 128}));
  EXPECT_EQ(classes.throughout, (LiveCount{2, 256}));
  EXPECT_EQ(classes.live_at_start(), (LiveCount{3, 384}));
  EXPECT_EQ(classes.live_at_end(), (LiveCount{4, 512}));
  // Relative times count from the first event. Without an end, the window ends with the trace.
  EXPECT_EQ(classes_in({TimeEdge{300, true}, TimeEdge{700, true}}), classes);
  const WindowClasses until_end = classes_in({TimeEdge{800}, {}});
  EXPECT_EQ(until_end.left_live, (LiveCount{1, 128}));
  EXPECT_EQ(until_end.freed_older, (LiveCount{2, 256}));
  EXPECT_EQ(until_end.throughout, (LiveCount{2, 256}));
}

TEST_F(Report, AWindowMustNotEndBeforeItStarts) {
  add(EventKind::kmalloc, 0x1000);
  const auto report_window = [this](TimeWindow window) {
    ReportRequest request;
    request.window = window;
    ReportAnalysis analysis(info, no_names, std::move(request));
    analysis.add(events);
  };
  // One time is on the clock of the trace, and the other counts from its first event at 100 ns.
  EXPECT_THROW(report_window({TimeEdge{200}, TimeEdge{50, true}}), Error);
  EXPECT_NO_THROW(report_window({TimeEdge{120}, TimeEdge{50, true}}));
  ReportFilter filter;
  filter.from = TimeEdge{200};
  filter.to = TimeEdge{50, true};
  EXPECT_THROW(report(filter), Error);
}

// The keys of groups do not apply to pages, but the totals of the window include them.
TEST_F(Report, AWindowHasTotalsOfAllAllocators) {
  add(EventKind::kmalloc, 0x1000);
  add(EventKind::page_alloc, 0x100).order = 1;
  ReportRequest request;
  request.window = TimeWindow{};
  ReportAnalysis analysis(info, no_names, std::move(request));
  analysis.add(events);
  const ReportResult result = analysis.finish();
  const auto json = nlohmann::ordered_json::parse(json_report(result, {}));
  EXPECT_EQ(json["window"]["to_ns"], nullptr);
  EXPECT_EQ(json["window"]["slab"]["left_live"]["bytes"], 128);
  EXPECT_EQ(json["window"]["pages"]["left_live"], (nlohmann::ordered_json{{"allocations", 1}, {"bytes", 8192}}));
  EXPECT_FALSE(json["window"].contains("percpu"));
  const test::DocumentedKeys documented("report-json.md");
  documented(json["window"]);
  documented(json["window"]["slab"]);
  documented(json["groups"]["slab"]["rows"][0]["window"]["throughout"]);
}

// The width of the buckets grows by more than a factor of 2^32 before the first object is freed.
TEST_F(Report, TrafficOfALongTimeKeepsTheTimesOfAllocations) {
  for (std::uint64_t i = 0; i < 3; ++i) add(EventKind::kmalloc, 0x1000 * (i + 1)).time_ns = 1000 + i;
  add(EventKind::kfree, 0x1000).time_ns = 2000;
  add(EventKind::kfree, 0x2000).time_ns = std::uint64_t{1} << 60;
  ReportRequest request;
  request.traffic = true;
  ReportAnalysis analysis(info, no_names, std::move(request));
  analysis.add(events);
  // The first object ended in the bucket of its allocation.
  const ReportResult result = analysis.finish();
  const std::vector<LifeTraffic>& lives = groups_of(result, Allocator::slab).at(0).traffic->lives;
  ASSERT_EQ(lives.size(), 1u);
  EXPECT_EQ(lives[0].began, 0u);
  EXPECT_GT(lives[0].ended, 0u);
  EXPECT_EQ(lives[0].bytes, 128u);
}

// A large kmalloc that two events report counts once. The second event ends nothing.
TEST_F(Report, AWindowCountsADuplicateEventOnce) {
  add(EventKind::kmalloc, 0x1000).bytes_allocated = 16384;
  Event& second = add(EventKind::kmalloc, 0x1000);
  second.bytes_allocated = 16384;
  second.call_site = {2};
  ReportRequest request;
  request.window = TimeWindow{};
  ReportAnalysis analysis(info, no_names, std::move(request));
  analysis.add(events);
  LiveCount left;
  LiveCount freed;
  const ReportResult result = analysis.finish();
  for (const GroupRow& row : groups_of(result, Allocator::slab)) {
    left += row.window.value().left_live;
    freed += row.window->freed_inside;
  }
  EXPECT_EQ(left, (LiveCount{1, 16384}));
  EXPECT_EQ(freed, LiveCount{});
}

TEST_F(Report, AWindowCountsPagesThatAreFreedInParts) {
  add(EventKind::page_alloc, 0x100).order = 2;
  add(EventKind::page_free, 0x101);  // 200 ns
  add(EventKind::page_free, 0x100);  // 300 ns
  ReportRequest request;
  request.by = {GroupKey::order};
  request.window = {TimeEdge{150}, TimeEdge{250}};
  ReportAnalysis analysis(info, no_names, std::move(request));
  analysis.add(events);
  const WindowClasses classes = groups_of(analysis.finish(), Allocator::pages).at(0).window.value();
  EXPECT_EQ(classes.freed_older.bytes, 4096u);
  EXPECT_EQ(classes.throughout, (LiveCount{1, 3 * 4096}));
}

double rate_of(const ReportResult& result) {
  return std::get<double>(find_group_column("rate")->get(groups_of(result, Allocator::slab).at(0)));
}

TEST_F(Report, RatesUseTheRecordedTime) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  for (std::uint64_t i = 0; i <= 10; ++i) add(EventKind::kmalloc, 0x10000 + 128 * i).time_ns = (2 + i) * kSecond;
  EXPECT_EQ(report().trace.recorded_ns, 10 * kSecond);  // the time from the first to the last event
  EXPECT_DOUBLE_EQ(rate_of(report()), 1.1);
  ReportFilter cpu;
  cpu.cpus = {1};
  EXPECT_EQ(report(cpu).trace.recorded_ns, 10 * kSecond);  // no event is selected, but the time is not shorter

  info.recording.samples = {{kSecond, 0, {}}, {5 * kSecond, 0, {}}, {23 * kSecond, 0, {}}};
  EXPECT_EQ(report().trace.duration_ns, 10 * kSecond);
  EXPECT_EQ(report().trace.recorded_ns, 22 * kSecond);
  EXPECT_DOUBLE_EQ(rate_of(report()), 0.5);
  ReportFilter window;
  window.from = TimeEdge{2 * kSecond};
  window.to = TimeEdge{20 * kSecond};
  EXPECT_EQ(report(window).trace.recorded_ns, 10 * kSecond);  // samples outside the time window do not count
  // The start of the trace was overwritten, so the first sample does not count.
  info.losses.intervals = {{0, 5, 0, 2 * kSecond}};
  EXPECT_EQ(report().trace.recorded_ns, 21 * kSecond);
  info.losses.intervals.clear();
  const SymbolNames& names = NoNames();
  ReportAnalysis interrupted(info, names, {});
  interrupted.add(events);
  EXPECT_EQ(interrupted.finish(false).trace.recorded_ns, 11 * kSecond);
}

TEST_F(Report, UnselectedFreesProveThatFreesWereRecorded) {
  for (std::uint64_t i = 0; i < 200; ++i) add(EventKind::kmalloc, 0x10000 + 128 * i).type = {0};
  info.tables.event_types = {{"kmem", "kmalloc", EventKind::kmalloc}, {"kmem", "kfree", EventKind::kfree}};
  EXPECT_EQ(report().findings.count_of(Imperfection::no_frees_recorded), 1u);
  add(EventKind::kfree, 0x10000).type = {1};
  EXPECT_EQ(report().findings.count_of(Imperfection::no_frees_recorded), 0u);
  ReportFilter site;
  site.call_sites = {"4096"};
  EXPECT_EQ(report(site).slab.allocations, 200u);
  EXPECT_EQ(report(site).findings.count_of(Imperfection::no_frees_recorded), 0u);
}

TEST_F(Report, MissingDataForKeysIsReported) {
  add(EventKind::kmalloc, 0x10000);
  const auto said = [this](Imperfection kind, GroupKey key) { return report_by({key}).findings.count_of(kind); };
  EXPECT_EQ(said(Imperfection::no_user_stacks, GroupKey::dso), 1u);
  EXPECT_EQ(said(Imperfection::no_user_stacks, GroupKey::comm), 0u);
  EXPECT_EQ(said(Imperfection::no_syscalls, GroupKey::syscall), 1u);
  EXPECT_EQ(said(Imperfection::no_syscalls, GroupKey::dso), 0u);
  const TraceInfo without = info;
  StackIds(info.tables.stacks).id_of(std::array<std::uint64_t, 1>{0x1000});
  EXPECT_EQ(said(Imperfection::no_user_stacks, GroupKey::dso), 1u) << "only kernel stacks";
  info.format = "perf.data";
  EXPECT_EQ(said(Imperfection::no_user_stacks, GroupKey::dso), 0u) << "perf record -g";
  info = without;
  info.code.user.frames.push_back({});
  EXPECT_EQ(said(Imperfection::no_user_stacks, GroupKey::dso), 0u);
  EXPECT_EQ(said(Imperfection::no_mappings, GroupKey::dso), 0u);
  StackIds(info.tables.stacks).user_id_of(std::array<std::uint64_t, 1>{0});
  EXPECT_EQ(said(Imperfection::no_mappings, GroupKey::dso), 1u);
  EXPECT_EQ(said(Imperfection::no_mappings, GroupKey::comm), 0u);
  info.code.address_spaces.add({.process = 7, .start = 0x1000, .size = 0x1000});
  EXPECT_EQ(said(Imperfection::no_mappings, GroupKey::dso), 0u);
  add(EventKind::syscall_enter, 1).type = {1};
  info.tables.event_types.push_back({"raw_syscalls", "sys_enter", EventKind::syscall_enter});
  EXPECT_EQ(said(Imperfection::no_syscalls, GroupKey::syscall), 1u) << "only start events";
  add(EventKind::syscall_exit, 1).type = {2};
  info.tables.event_types.push_back({"raw_syscalls", "sys_exit", EventKind::syscall_exit});
  EXPECT_EQ(said(Imperfection::no_syscalls, GroupKey::syscall), 0u);
}

TEST_F(Report, AFreeThatPrecedesItsAllocationLeavesNoLiveObject) {
  add(EventKind::kfree, 0x10000, 7, 1);
  add(EventKind::kmalloc, 0x10000, 7, 0);  // 100 ns after the free, on another CPU
  add(EventKind::kmalloc, 0x10000, 7, 0);
  add(EventKind::kmalloc, 0x10000, 7, 0);
  EXPECT_EQ(anomaly(report(), "free_before_allocation"), 1u);
  EXPECT_EQ(anomaly(report(), "allocation_on_live_pointer"), 1u);
  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().findings.count_of(Imperfection::free_before_allocation), 1u);
}

TEST_F(Report, NoReuseIsExplainedByAProbedPath) {
  info.tables.cache_names = {"", "maple_node"};
  for (int i = 0; i < 2; ++i) add(EventKind::cache_alloc, 0x10000).cache = {1};
  EXPECT_EQ(report().explained.untraced_frees, 1u);
  for (const char* const event : {"free_bulk", "free_rcu"}) info.tables.event_types.push_back({"kmemtrace", event});
  EXPECT_EQ(report().explained.untraced_frees, 0u);
}

TEST_F(Report, KnownUntracedFreesAreExplainedAndMakeLiveCountsUpperBounds) {
  info.tables.cache_names = {"", "maple_node", "dentry"};
  const auto allocate = [&](std::uint64_t address, std::uint32_t cache) {
    Event& event = add(EventKind::cache_alloc, address);
    event.cache = {cache};
  };
  allocate(0x10000, 1);
  allocate(0x10000, 1);
  allocate(0x20000, 2);
  allocate(0x20000, 2);
  add(EventKind::cache_free, 0x30000).cache = {2};
  const ReportResult result = report();
  EXPECT_EQ(result.explained.untraced_frees, 1u) << "of maple_node alone";
  EXPECT_EQ(result.explained.older_frees, 1u);
  EXPECT_EQ(result.explained.events, 5u);
  EXPECT_EQ(anomaly(result, "allocation_on_live_pointer"), 2u);
  EXPECT_EQ(result.slab.live_allocations, 2u);
  EXPECT_EQ(result.slab.maybe_freed.allocations, 2u);
  EXPECT_EQ(result.slab.maybe_freed.bytes, 256u);
  const NoNames names{};
  CheckAnalysis check(info, true, &names);
  check.add(events);
  const CheckResult checked = check.finish();
  EXPECT_EQ(checked.explained.untraced_frees, 1u);
  EXPECT_EQ(checked.live.allocations, 2u);
  EXPECT_EQ(checked.maybe_freed.allocations, 2u);
  EXPECT_EQ(checked.maybe_freed.bytes, 256u);
  EXPECT_TRUE(checked.sound);
}

TEST_F(Report, FreesOfTheRecordersOwnMemoryAreCountedOnce) {
  info.recording.notes["recorder_tasks"] = "8";
  add(EventKind::kfree, 0x10000, 7);
  for (const std::int32_t tid : {7, 8, 8}) add(EventKind::kfree, 0x10000, tid);
  const ReportResult result = report();
  EXPECT_EQ(anomaly(result, "allocated_before_trace"), 1u);
  EXPECT_EQ(anomaly(result, "double_free_or_untraced_allocation"), 1u);
  EXPECT_EQ(result.explained.recorder_frees, 2u);
  EXPECT_EQ(result.slab.unmatched_frees, 4u) << "each free has one cause";
  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().explained.recorder_frees, 2u);
}

TEST_F(Report, LivePagesAreSplitByUse) {
  for (const std::int8_t type : {std::int8_t{0}, std::int8_t{1}, std::int8_t{1}}) {
    Event& event = add(EventKind::page_alloc, 0x100 + events.size());
    event.migrate_type = type;
  }
  const NoNames names{};
  ReportAnalysis analysis(info, names, {.live_pages = true});
  analysis.add(events);
  const ReportResult result = analysis.finish();
  EXPECT_EQ(result.pages.live_bytes, 3u * 4096);
  ASSERT_TRUE(result.live_pages);
  EXPECT_EQ(result.live_pages->user, 2u * 4096) << "movable pages";
  EXPECT_EQ(result.live_pages->slab, 0u);
  EXPECT_FALSE(report().live_pages);
}

// Before Linux 4.4, migrate type 1 is Reclaimable and type 2 is Movable.
TEST_F(Report, MovablePagesOfOldKernelsAreUserMemory) {
  info.machine.kernel = "4.3.0";
  for (const std::int8_t type : {std::int8_t{1}, std::int8_t{2}, std::int8_t{2}, std::int8_t{2}})
    add(EventKind::page_alloc, 0x100 + events.size()).migrate_type = type;
  const NoNames names{};
  ReportAnalysis analysis(info, names, {.live_pages = true});
  analysis.add(events);
  EXPECT_EQ(analysis.finish().live_pages->user, 3u * 4096);
}

TEST_F(Report, AReusedAddressMakesLiveCountsOfItsCallSiteUpperBounds) {
  for (const std::uint32_t site : {1u, 2u, 1u}) {
    Event& event = add(EventKind::percpu_alloc, site == 1 ? 0x10000 : 0x20000);
    event.call_site = {site};
  }
  const ReportResult result = report();
  EXPECT_EQ(result.percpu.live_allocations, 2u);
  EXPECT_EQ(result.percpu.maybe_freed.allocations, 1u) << "none of call site 2";
  EXPECT_EQ(maybe_freed_of(result).allocations, 1u);
  const NoNames names{};
  CheckAnalysis check(info, true, &names);
  check.add(events);
  EXPECT_EQ(check.finish().maybe_freed.allocations, 1u);
}

TEST_F(Report, AFewFreesThatComeEarlyAffectNoNumber) {
  add(EventKind::kfree, 0x10000, 7, 1);
  add(EventKind::kmalloc, 0x10000, 7, 0);
  add(EventKind::kmalloc, 0x10000, 7, 0);
  const auto affected = [this] {
    CheckAnalysis check(info);
    check.add(events);
    return check.finish().affected;
  };
  EXPECT_EQ(affected(), std::vector{AffectedNumbers::lifetimes});
  for (std::uint64_t i = 0; i < 2000; ++i) add(EventKind::kmalloc, 0x100000 + 0x1000 * i);
  EXPECT_TRUE(affected().empty());
}

TEST_F(Report, AFilterThatSelectsNothingLeavesTheTimesOfTheTrace) {
  add(EventKind::kmalloc, 0x10000);
  add(EventKind::kmalloc, 0x20000);
  ReportFilter filter;
  filter.comms = {"absent*"};
  const ReportResult result = report(std::move(filter));
  EXPECT_EQ(result.trace.events, 0u);
  EXPECT_EQ(result.trace.whole_first_ns, 100u);
  EXPECT_EQ(result.trace.whole_ns, 100u);
}

TEST_F(Report, KmallocCachesHaveTheKernelsNames) {
  info.tables.gfp_flags = {{0x400000, "__GFP_ACCOUNT"}, {0x10, "__GFP_RECLAIMABLE"}, {0x1, "__GFP_DMA"}};
  const auto caches = [&] {
    std::vector<std::string> names;
    const ReportResult result = report_by({GroupKey::cache});
    for (const GroupRow& row : groups_of(result, Allocator::slab)) names.push_back(row.name);
    std::sort(names.begin(), names.end());
    return names;
  };
  std::uint64_t address = 0x10000;
  for (const auto& [bytes, flags] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {96, 0xcc0}, {1024, 0xcc0}, {1024, 0x400cc0}, {2048, 0xcd0}, {64, 0xcc1}, {65536, 0xcc0}}) {
    Event& event = add(EventKind::kmalloc, address += 65536);
    event.bytes_allocated = bytes;
    event.gfp_flags = flags;
  }
  EXPECT_EQ(caches(), (std::vector<std::string>{"dma-kmalloc-64", "kmalloc-1k", "kmalloc-96", "kmalloc-rcl-2k",
                                                "large kmalloc"}));
  info.recording.samples = {{0, 0, {{"slabinfo", "slabinfo - version: 2.1\nkmalloc-cg-1k 1 2 1024\n"}}}};
  EXPECT_EQ(caches().at(3), "kmalloc-cg-1k");
  info.machine.kernel = "4.19.0";
  EXPECT_EQ(caches().at(1), "kmalloc-1024");
}

TEST_F(Report, ADuplicateEventCountsOnce) {
  const auto large = [&](std::uint64_t address, std::uint32_t site) {
    Event& event = add(EventKind::kmalloc, address);
    event.bytes_requested = event.bytes_allocated = 65536;
    event.call_site = {site};
  };
  large(0x10000, 1);  // the event of kvmalloc()
  large(0x10000, 2);  // the same allocation, with the caller of kvmalloc()
  large(0x50000, 1);
  add(EventKind::kfree, 0x10000);
  const ReportResult result = report();
  EXPECT_EQ(result.slab.allocations, 2u);
  EXPECT_EQ(result.slab.bytes_allocated, 2 * 65536u);
  EXPECT_EQ(result.slab.live_bytes, 65536u);
  EXPECT_TRUE(result.anomalies.empty());
  for (const GroupRow& row : groups_of(result, Allocator::slab)) EXPECT_EQ(row.allocations, 1u);
  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().findings.count_of(Imperfection::allocation_on_live_pointer), 0u);

  // If duplicate events count, as in perf, each event is an allocation.
  ReportRequest request;
  request.by = {GroupKey::call_site};
  request.count_duplicates = true;
  const NoNames names{};
  ReportAnalysis of_events(info, names, std::move(request));
  of_events.add(events);
  const ReportResult both = of_events.finish();
  std::uint64_t allocations = 0;
  for (const GroupRow& row : groups_of(both, Allocator::slab)) allocations += row.allocations;
  EXPECT_EQ(allocations, 3u);
  EXPECT_EQ(both.slab.live_bytes, 65536u);
}

// The free of the first object was not recorded, and the next object immediately gets its address.
TEST_F(Report, AThirdEventIsTheNextObject) {
  for (int i = 0; i < 6; ++i) {
    Event& event = add(EventKind::kmalloc, 0x10000);
    event.bytes_requested = event.bytes_allocated = 65536;
    event.call_site = {i % 2 == 0 ? 1u : 2u};
  }
  const ReportResult result = report();
  EXPECT_EQ(result.slab.allocations, 3u);
  EXPECT_EQ(result.slab.live_bytes, 65536u);
  EXPECT_EQ(anomaly(result, "allocation_on_live_pointer"), 2u);
  const std::vector<GroupRow> rows = groups_of(result, Allocator::slab);
  ASSERT_EQ(rows.size(), 1u) << "all belong to the caller of kvmalloc";
  EXPECT_EQ(rows[0].allocations, 3u);
}

// If frees were not recorded, an interrupt between two duplicate events must not make all following events pair
// incorrectly.
TEST_F(Report, AnInterruptBetweenDuplicateEventsDoesNotShiftPairs) {
  for (int i = 0; i < 12; ++i) {
    Event& event = add(EventKind::kmalloc, 0x10000);
    event.bytes_requested = event.bytes_allocated = 65536;
    event.call_site = {i % 2 == 0 ? 1u : 2u};
    event.time_ns = static_cast<std::uint64_t>(1000 + i * 1000 + (i >= 5 ? 500'000 : 0));
  }
  const ReportResult result = report();
  std::multiset<std::uint64_t> counts;
  for (const GroupRow& row : groups_of(result, Allocator::slab)) counts.insert(row.allocations);
  EXPECT_EQ(counts, (std::multiset<std::uint64_t>{1, 6})) << "kvmalloc itself, and its caller";
}

TEST_F(Report, CrossNodeIsUnknownWithoutNodesAndCountedWithThem) {
  add(EventKind::kmalloc, 0x10000, 7, 1).node = 0;
  add(EventKind::kmalloc, 0x20000, 7, 1).node = 1;
  add(EventKind::kmalloc, 0x30000, 7, 1);
  EXPECT_EQ(report().slab.cross_node_allocations, std::nullopt);
  info.machine.cpu_nodes = {0, 1};
  EXPECT_EQ(report().slab.cross_node_allocations, 1u);
}

TEST_F(Report, FailedPageAllocationsHaveNoFrame) {
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

TEST_F(Report, APageFreedTwiceIsAnAnomaly) {
  add(EventKind::page_free, 9);  // a page from before the trace
  add(EventKind::page_alloc, 64).order = 2;
  add(EventKind::page_free, 64).order = 2;
  add(EventKind::page_free, 66).call_site = {2};
  add(EventKind::page_alloc, 66);
  add(EventKind::page_free, 66).order = 1;  // page 66 was allocated again, page 67 was not
  add(EventKind::page_alloc, 9);
  add(EventKind::page_free, 9);
  const ReportResult result = report();
  EXPECT_EQ(anomaly(result, "pages_freed_twice"), 2u);
  EXPECT_EQ(anomaly(result, "double_free_or_untraced_allocation"), 0u);
  EXPECT_EQ(result.pages.bytes_freed, 6 * 4096u);
  EXPECT_EQ(result.pages.live_bytes, 0u);
  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().findings.count_of(Imperfection::pages_freed_twice), 2u);
}

TEST_F(Report, EachAllocatorHasSeparateAddressesAndRules) {
  add(EventKind::kmalloc, 0x10000);
  add(EventKind::percpu_alloc, 0x10000).bytes_allocated = 520;
  add(EventKind::vmap_alloc, 0x10000).call_site = {0};
  add(EventKind::percpu_free, 0x10000, 8, 1);
  add(EventKind::percpu_alloc, 0x20000).bytes_allocated = 520;
  add(EventKind::percpu_alloc, 0x20000).bytes_allocated = 520;  // the event that freed the earlier object was lost
  add(EventKind::percpu_alloc, 0);
  add(EventKind::percpu_free, 0x30000);
  add(EventKind::vmap_free, 0x10000);
  add(EventKind::vmap_free, 0x10000);
  add(EventKind::vmap_alloc, 0).call_site = {0};
  const ReportResult result = report();
  EXPECT_EQ(result.slab.allocations, 1u);
  EXPECT_EQ(result.slab.live_allocations, 1u);
  EXPECT_EQ(result.slab.frees, 0u);

  const AllocatorTotals& percpu = result.percpu;
  EXPECT_EQ(percpu.allocations, 3u);
  EXPECT_EQ(percpu.failed_allocations, 1u);
  EXPECT_EQ(percpu.bytes_requested, 300u);
  EXPECT_EQ(percpu.bytes_allocated, 3 * 520u);
  EXPECT_EQ(percpu.bytes_freed, 520u);
  EXPECT_EQ(percpu.frees, 2u);
  EXPECT_EQ(percpu.matched_frees, 1u);
  EXPECT_EQ(percpu.unmatched_frees, 1u);
  EXPECT_EQ(percpu.cross_cpu_frees, 1u);
  EXPECT_EQ(percpu.live_allocations, 1u);
  EXPECT_EQ(percpu.live_bytes, 520u);
  EXPECT_TRUE(percpu.knows_bytes);

  const AllocatorTotals& vmalloc = result.vmalloc;
  EXPECT_EQ(vmalloc.allocations, 1u);
  EXPECT_EQ(vmalloc.failed_allocations, 1u);
  EXPECT_EQ(vmalloc.bytes_freed, 128u);
  EXPECT_EQ(vmalloc.matched_frees, 1u);
  EXPECT_EQ(vmalloc.unmatched_frees, 1u);
  EXPECT_EQ(vmalloc.live_allocations, 0u);

  EXPECT_EQ(anomaly(result, "allocation_on_live_pointer"), 1u);
  EXPECT_EQ(anomaly(result, "allocated_before_trace"), 1u);
  EXPECT_EQ(anomaly(result, "double_free_or_untraced_allocation"), 1u);
  EXPECT_EQ(anomaly(result, "freed_by_another_family"), 0u);
  EXPECT_EQ(groups_of(result, Allocator::slab).size(), 1u);

  CheckAnalysis check(info);
  check.add(events);
  const Findings findings = check.finish().findings;
  EXPECT_EQ(findings.count_of(Imperfection::allocation_on_live_pointer), 1u);
  EXPECT_EQ(findings.count_of(Imperfection::allocated_before_trace), 1u);
  EXPECT_EQ(findings.count_of(Imperfection::double_free_or_untraced_allocation), 1u);
  EXPECT_EQ(findings.count_of(Imperfection::failed_allocation), 2u);
  for (const Finding& finding : findings.kept())
    EXPECT_EQ(finding.detail.find("call site 0x0"), std::string::npos) << finding.detail;
}

TEST_F(Report, PercpuCallSitesAddUpToTheTotals) {
  add(EventKind::percpu_alloc, 0x10000).bytes_allocated = 520;
  Event& other = add(EventKind::percpu_alloc, 0x20000);
  other.call_site = {2};
  other.bytes_allocated = 1000;
  add(EventKind::percpu_alloc, 0).call_site = {0};
  add(EventKind::percpu_free, 0x20000);
  const ReportResult result = report();
  ASSERT_EQ(groups_of(result, Allocator::percpu).size(), 3u);
  const GroupRow& unknown = groups_of(result, Allocator::percpu)[2];
  EXPECT_EQ(unknown.name, "unknown");
  EXPECT_EQ(unknown.failed_allocations, 1u);
  EXPECT_EQ(groups_of(result, Allocator::percpu)[0].live_bytes, 520u);
  EXPECT_EQ(groups_of(result, Allocator::percpu)[1].matched_frees, 1u);
  AllocatorTotals sum;
  for (const GroupRow& row : groups_of(result, Allocator::percpu)) sum += row;
  EXPECT_EQ(sum.allocations, result.percpu.allocations);
  EXPECT_EQ(sum.failed_allocations, result.percpu.failed_allocations);
  EXPECT_EQ(sum.bytes_allocated, result.percpu.bytes_allocated);
  EXPECT_EQ(sum.live_bytes, result.percpu.live_bytes);
  EXPECT_EQ(sum.matched_frees, result.percpu.matched_frees);
}

// Before Linux 5.19, the event of a percpu allocation has neither a call site nor bytes_alloc.
TEST_F(Report, FieldsMissingInOldKernelsAreUnknown) {
  Event& event = add(EventKind::percpu_alloc, 0x10000);
  event.call_site = {0};
  event.bytes_allocated = 0;
  const ReportResult result = report();
  EXPECT_FALSE(result.percpu.knows_bytes);
  EXPECT_EQ(result.percpu.bytes_requested, 100u);
  ASSERT_EQ(groups_of(result, Allocator::percpu).size(), 1u);
  EXPECT_FALSE(groups_of(result, Allocator::percpu)[0].knows_bytes);
  EXPECT_EQ(anomaly(result, "allocated_less_than_requested"), 0u);
}

TEST_F(Report, AFilterSelectsPercpuAllocations) {
  add(EventKind::percpu_alloc, 0x10000, 7);
  add(EventKind::percpu_alloc, 0x20000, 8);
  add(EventKind::percpu_free, 0x10000, 8);
  ReportFilter filter;
  filter.pids = {7};
  EXPECT_EQ(report(filter).percpu.allocations, 1u);
  EXPECT_EQ(report(filter).percpu.matched_frees, 1u);
}

// Marks in pages and the kernel's statistics may describe the same loss. Then every output must report the larger
// number.
TEST_F(Report, AllOutputsShowTheSameLoss) {
  add(EventKind::kmalloc, 0x10000);
  info.losses.intervals.push_back({0, 10, 0, 0, {}});
  info.findings.add({Imperfection::lost_events, "10 events", 0, {}, {}}, 10);
  BufferStatistics statistics;
  statistics.cpu = 0;
  statistics.overrun = 25;
  statistics.not_recorded = 5;
  info.losses.buffers = {statistics};
  info.findings.add({Imperfection::interrupted_recording, "", 0, {}, {}}, 5);
  const ReportResult result = report();
  EXPECT_EQ(result.trace.lost_events, 30u);
  EXPECT_EQ(result.findings.count_of(Imperfection::lost_events), 25u);
  EXPECT_EQ(result.findings.count_of(Imperfection::interrupted_recording), 5u);

  CheckAnalysis check(info);
  check.add(events);
  EXPECT_EQ(check.finish().findings.count_of(Imperfection::lost_events), 25u);
}

TEST_F(Report, AKfreeOfACacheObjectIsAnAnomalyOnlyBefore6Point4) {
  add(EventKind::cache_alloc, 0x10000);
  add(EventKind::kfree, 0x10000);
  EXPECT_EQ(anomaly(report(), "freed_by_another_family"), 1u);
  info.machine.kernel = "6.4.1";
  EXPECT_EQ(anomaly(report(), "freed_by_another_family"), 0u);
}

TEST(MemoryState, StartEndAndMaximumOfEachLine) {
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

TEST_F(Report, CallSitesAreSelectedWithAndWithoutCompilerSuffix) {
  struct Names : SymbolNames {
    std::string name(std::uint64_t) const override { return "foo.isra.0+0x1f [mod]"; }
  };
  add(EventKind::kmalloc, 0x10000);
  const auto selected = [&](const char* glob) {
    ReportFilter filter;
    filter.call_sites = {glob};
    return report_by({GroupKey::call_site}, filter, Names()).slab.allocations;
  };
  for (const char* const glob : {"foo", "f*o", "foo.isra.0", "foo.isra.0+0x1f", "foo.isra.0+0x1f [mod]", "*[mod]"})
    EXPECT_EQ(selected(glob), 1u) << glob;
  for (const char* const glob : {"fo", "isra", "foo+0x1f", "*[pond]"}) EXPECT_EQ(selected(glob), 0u) << glob;
}

}  // namespace
}  // namespace kmt
