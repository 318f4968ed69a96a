// SPDX-License-Identifier: GPL-2.0-or-later
// Tests verdicts with hand-made events: certain growth, uncertain growth and no growth.
#include "analysis/report/leaks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "analysis/report/known_causes.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/timeline.hpp"
#include "trace/code/untraced_paths.hpp"
#include "views/text/leaks/leaks.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class SiteNames : public SymbolNames {
 public:
  static constexpr std::uint64_t kOfAccounting = 77;
  static constexpr std::uint64_t kOfFiles = 78;
  std::string name(std::uint64_t address) const override {
    if (address == kOfFiles) return "__alloc_file+0x23";
    return address == kOfAccounting ? "alloc_slab_obj_exts+0x58" : "site_" + std::to_string(address) + "+0x1";
  }
};

class Leaks : public testing::Test {
 protected:
  Leaks() {
    info.machine.page_size = 4096;
    info.machine.cpus = 1;
    info.machine.kernel = "6.1.0";
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0, 1, 2, 3};
  }

  void allocate(std::uint64_t time_ns, std::uint32_t site, std::uint64_t address, std::uint64_t bytes = 128) {
    Event event{};
    event.kind = EventKind::kmalloc;
    event.time_ns = time_ns;
    event.address = address;
    event.call_site = {site};
    event.bytes_requested = event.bytes_allocated = bytes;
    event.node = kNoNode;
    events.push_back(event);
  }
  void release(std::uint64_t time_ns, std::uint64_t address) {
    Event event{};
    event.kind = EventKind::kfree;
    event.time_ns = time_ns;
    event.address = address;
    events.push_back(event);
  }
  // Makes 100 allocations per second for ten seconds. leak() never frees them; churn() frees each after a millisecond.
  void leak(std::uint32_t site, std::uint64_t from_ns = 0, std::uint64_t to_ns = 10 * kSecond) {
    for (std::uint64_t time = from_ns; time < to_ns; time += kSecond / 100) allocate(time, site, next += 4096);
  }
  void churn(std::uint32_t site) {
    for (std::uint64_t time = 0; time < 10 * kSecond; time += kSecond / 100) {
      allocate(time, site, next += 4096);
      release(time + kSecond / 1000, next);
    }
  }

  ReportResult report(std::vector<GroupKey> by = {GroupKey::call_site}, ReportFilter filter = {},
                      bool complete = true) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    const SiteNames names;
    ReportRequest request;
    request.by = std::move(by);
    request.filter = std::move(filter);
    request.history = request.history_of_live = request.holders = true;
    request.judges_reclaimable = judges_reclaimable;
    request.until_cut = true;
    ReportAnalysis analysis(info, names, request);
    analysis.add(events);
    return analysis.finish(complete);
  }
  LeaksResult leaks(double threshold = 1000) { return leaks_of(report(), threshold); }
  static const LeakRow* row_of(const LeaksResult& result, std::uint64_t site) {
    for (const LeakTable& table : result.tables)
      for (const LeakRow& row : table.rows)
        if (std::get<CodeAddress>(row.group.keys[0]).address == site) return &row;
    return nullptr;
  }

  TraceInfo info;
  EventBatch events;
  bool judges_reclaimable = false;
  std::uint64_t next = 0x100000;
};

TEST_F(Leaks, ALeakIsFoundAndRankedFirstNotBySize) {
  leak(1);
  churn(2);
  // Many bytes, but no growth.
  for (int i = 0; i < 10; ++i) allocate(static_cast<std::uint64_t>(i), 3, next += 4096, 1 << 20);
  const LeaksResult result = leaks();
  EXPECT_TRUE(result.found());
  const auto sorted = sorted_leaks(result.tables[0].rows, *find_leak_column("growth"));
  EXPECT_EQ(std::get<CodeAddress>(sorted[0]->group.keys[0]).address, 1u);
  EXPECT_EQ(sorted[0]->verdict, LeakVerdict::certain);
  EXPECT_NEAR(sorted[0]->trend.bytes_per_s, 12800, 200);
  EXPECT_EQ(sorted[0]->certain_bytes(), 1000u * 128);
  EXPECT_NEAR(static_cast<double>(sorted[0]->median_age_ns()), 5e9, 1.25e9);
  EXPECT_EQ(row_of(result, 3)->verdict, LeakVerdict::no_growth);
  EXPECT_EQ(row_of(result, 2), nullptr);  // there is no row, because no object of this call site is live
}

// Objects of call site 1 live for 7.6 seconds, so their number rises until then. Site 2 stops allocating after 7.6
// seconds and frees nothing.
TEST_F(Leaks, GrowthThatLevelsOffIsPast) {
  constexpr std::uint64_t kLife = 76 * kSecond / 10;
  for (std::uint64_t time = 0; time < 10 * kSecond; time += kSecond / 100) {
    allocate(time, 1, next += 4096);
    if (time + kLife < 10 * kSecond) release(time + kLife, next);
  }
  leak(2, 0, kLife);
  leak(3);
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::past);
  EXPECT_EQ(row_of(result, 2)->verdict, LeakVerdict::certain);
  EXPECT_EQ(row_of(result, 3)->verdict, LeakVerdict::certain);
}

// In Linux 6.1, free events name the cache, but allocation events do not. If the name of the allocating function
// resembles the cache's name, frees of older objects count even if they are more frequent than its allocations. For
// other functions, they count only if frees and allocations are equally frequent.
TEST_F(Leaks, FreesAreOlderOnlyIfTheirObjectIs) {
  leak(1);
  for (int i = 0; i < 3; ++i) release(10 * kSecond, 0x8);  // the second and third free follow untraced allocations
  const LeaksResult result = leaks();
  ASSERT_EQ(result.tables.size(), 1u);
  EXPECT_EQ(result.tables.front().older_frees, 1u);
}

TEST_F(Leaks, OlderFreesCountIfOnlyTheyNameTheCache) {
  info.tables.cache_names = {"", "filp"};
  info.tables.call_sites.push_back(SiteNames::kOfFiles);
  struct Case {
    std::uint32_t site;
    std::uint64_t frees_per_second;
    bool keeps_pace;
  };
  for (const Case& one : {Case{1, 1, false}, Case{1, 100, true}, Case{1, 200, false}, Case{4, 1, false},
                          Case{4, 100, true}, Case{4, 200, true}}) {
    events.clear();
    leak(one.site);
    for (Event& event : events) event.kind = EventKind::cache_alloc;
    for (std::uint64_t time = 1; time < 10 * kSecond; time += kSecond / one.frees_per_second) {
      release(time, next += 4096);
      events.back().kind = EventKind::cache_free;
      events.back().call_site = {2};
      events.back().cache = {1};
    }
    const LeaksResult result = leaks();
    const LeakRow* const row = row_of(result, info.tables.call_sites[one.site]);
    EXPECT_EQ(row->verdict, one.keeps_pace ? LeakVerdict::uncertain : LeakVerdict::certain) << one.site;
    EXPECT_EQ(row->main_doubt == Doubt::older_freed, one.keeps_pace) << one.site;
  }
}

// Sockets on Linux 6.1: frees name the merged cache PING, and no function name is similar. According to slabinfo, PING
// has objects of the same size. If objects of PING are freed as fast as sockets are allocated, the frees may be those
// of older sockets.
TEST_F(Leaks, OlderFreesOfACacheOfTheSameSizeCount) {
  info.tables.cache_names = {"", "PING"};
  info.tables.call_sites.push_back(SiteNames::kOfFiles);  // no allocating function has a similar name
  struct Case {
    std::uint64_t size;
    std::uint64_t frees_per_second;
    std::uint32_t other_leak;  // call site of another leak of this size; 0: none
    bool keeps_pace;
  };
  for (const Case& one : {Case{128, 100, 0, true}, Case{128, 10, 0, false}, Case{128, 200, 0, false},
                          Case{256, 100, 0, false}, Case{128, 100, 3, false}}) {
    events.clear();
    info.recording.samples = {{0,
                               0,
                               {{"slabinfo", "slabinfo - version: 2.1\nPING 900 960 " + std::to_string(one.size) +
                                                 " 32 1 : tunables 0 0 0 : slabdata 30 30 0\n"}}}};
    leak(1);
    if (one.other_leak != 0) leak(one.other_leak);
    for (Event& event : events) event.kind = EventKind::cache_alloc;
    for (std::uint64_t time = 1; time < 10 * kSecond; time += kSecond / one.frees_per_second) {
      release(time, next += 4096);
      events.back().kind = EventKind::cache_free;
      events.back().call_site = {4};
      events.back().cache = {1};
    }
    EXPECT_EQ(row_of(leaks(), 1)->verdict, one.keeps_pace ? LeakVerdict::uncertain : LeakVerdict::certain)
        << one.size << " " << one.frees_per_second << " " << one.other_leak;
  }
}

TEST(LeakOrder, IsByCertaintyThenBySpeed) {
  std::vector<LeakRow> rows(4);
  const std::array verdicts = {LeakVerdict::no_growth, LeakVerdict::certain, LeakVerdict::uncertain,
                               LeakVerdict::certain};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].verdict = verdicts[i];
    rows[i].trend.growth = Growth::steady;
    rows[i].trend.bytes_per_s = i == 0 ? 1e6 : static_cast<double>(i);
    rows[i].certain = rows[i].trend;
  }
  const auto sorted = [&rows] { return sorted_leaks(rows, *find_leak_column("verdict")); };
  EXPECT_EQ(sorted(), (std::vector<const LeakRow*>{&rows[3], &rows[1], &rows[2], &rows[0]}));
  rows[3].certain.bytes_per_s = 0.5;  // nearly all of the growth may consist of objects that were freed
  EXPECT_EQ(sorted(), (std::vector<const LeakRow*>{&rows[1], &rows[3], &rows[2], &rows[0]}));
}

// Three of four objects belong to process 70, which has two threads.
TEST_F(Leaks, GroupsNameTheProcessesWithLiveObjects) {
  leak(1);
  info.tasks.thread_groups = {{70, 70}, {71, 70}, {90, 90}};
  std::size_t number = 0;
  for (Event& event : events) event.tid = std::array{70, 71, 90, 71}[number++ % 4];
  churn(2);
  const LeaksResult result = leaks();
  const std::vector<LiveHolder>& holders = row_of(result, 1)->group.history->holders;
  ASSERT_EQ(holders.size(), 2u);
  EXPECT_EQ(holders[0].process.id, 70);
  EXPECT_EQ(holders[0].live.allocations, 750u);
  EXPECT_EQ(holders[0].live.bytes, 750u * 128);
  EXPECT_EQ(holders[1].process.id, 90);
  EXPECT_EQ(holders[1].live.bytes, 250u * 128);
  EXPECT_EQ(result.worst, LeakVerdict::certain);
  EXPECT_EQ(result.worst_bytes, 1000u * 128);
  EXPECT_EQ(result.holders.front().bytes, 750u * 128);
}

// Process 7 has 40 % of the memory, and each of 50 others has about 1 %.
TEST_F(Leaks, ManyProcessesOfOneNameAreOneSource) {
  leak(1);
  info.tasks.comms[7] = "server";
  std::int32_t number = 0;
  for (Event& event : events) {
    event.tid = number % 5 < 2 ? 7 : 100 + number / 20;
    info.tasks.comms.try_emplace(event.tid, "mount");
    ++number;
  }
  churn(2);
  const std::vector<LeakSource> sources = leaks().sources;
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].process.comm, "mount");
  EXPECT_EQ(sources[0].process.id, std::nullopt);
  EXPECT_EQ(sources[0].processes, 50u);
  EXPECT_EQ(sources[0].bytes, 600u * 128);
  EXPECT_EQ(sources[1].process.id, 7);
  EXPECT_EQ(sources[1].bytes, 400u * 128);
}

TEST_F(Leaks, GroupsOfOneProcessHaveOneCause) {
  leak(1);
  leak(2);
  for (Event& event : events) event.tid = 7;
  const std::size_t of_first = events.size();
  leak(3, kSecond);
  for (std::size_t i = of_first; i < events.size(); ++i) events[i].tid = 8;
  churn(2);
  info.tasks.comms = {{7, "server"}, {8, "client"}};
  const LeaksResult result = leaks();
  ASSERT_EQ(result.causes.size(), 2u);
  EXPECT_EQ(result.causes[0].source.process.comm, "server");
  EXPECT_EQ(result.causes[0].groups, 2u);
  EXPECT_EQ(result.causes[0].source.bytes, 2000u * 128);
  EXPECT_EQ(result.causes[1].source.process.id, 8);
  EXPECT_EQ(result.causes[1].groups, 1u);
}

TEST_F(Leaks, MemoryOfOtherTracingToolsIsExplained) {
  leak(1);
  for (Event& event : events) event.tid = 7;
  churn(2);
  info.tasks.comms[7] = "worker";
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::certain);
  info.tasks.comms[7] = "perf";
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::explained);
  EXPECT_EQ(row_of(result, 1)->main_doubt, Doubt::tracing);
}

// Events of vmalloc areas have no call site.
TEST_F(Leaks, AreasWithoutAKeyAreJudgedByProcess) {
  leak(1);
  churn(1);
  std::size_t number = 0;
  for (Event& event : events) {
    event.kind = event.kind == EventKind::kfree ? EventKind::vmap_free : EventKind::vmap_alloc;
    event.call_site = {};
    event.tid = number++ < 1000 ? 7 : 8;
  }
  info.tasks.comms = {{7, "leaks"}, {8, "churns"}};
  const LeaksResult result = leaks();
  ASSERT_EQ(result.tables.size(), 1u);
  EXPECT_FALSE(result.tables[0].whole);
  ASSERT_EQ(result.tables[0].rows.size(), 1u);
  EXPECT_EQ(result.tables[0].rows[0].verdict, LeakVerdict::certain);
  EXPECT_EQ(result.tables[0].rows[0].group.history->holders[0].process.comm, "leaks");
  EXPECT_NE(text_leaks(result, {}, {}).find("Growth: leaks-7: all vmalloc memory grows for certain by"),
            std::string::npos);
}

// Process 7 touches one page of each page table. Process 8 has so much user memory that it could need all page tables.
TEST_F(Leaks, PageTablesOfOneProcessAreComparedWithItsMemory) {
  info.tables.gfp_flags = {{0x40, "__GFP_IO"},
                           {0x80, "__GFP_FS"},
                           {0x100, "__GFP_ZERO"},
                           {0x400, "__GFP_DIRECT_RECLAIM"},
                           {0x800, "__GFP_KSWAPD_RECLAIM"},
                           {0x40000, "__GFP_COMP"},
                           {0x400000, "__GFP_ACCOUNT"}};
  const auto add_pages = [this](std::int32_t process, std::uint64_t pages, std::uint32_t flags, int type) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      Event event{};
      event.kind = EventKind::page_alloc;
      event.time_ns = i * 10 * kSecond / pages;
      event.address = ++next;
      event.gfp_flags = flags;
      event.migrate_type = static_cast<std::int8_t>(type);
      event.tid = process;
      events.push_back(event);
    }
  };
  constexpr int kUnmovable = 0;
  constexpr int kMovable = 1;
  add_pages(7, 1000, 0x440DC0, kUnmovable);
  add_pages(8, 9000, 0, kMovable);
  release(5 * kSecond, ++next);  // shows that frees are recorded
  events.back().kind = EventKind::page_free;
  const auto verdict_on = [this](std::int32_t process) {
    const LeaksResult result = leaks_of(report({GroupKey::process}), 1000);
    for (const LeakRow& row : result.tables[0].rows)
      if (std::get<TaskName>(row.group.keys[0]).id == process) return row.verdict;
    return LeakVerdict::no_clock;
  };
  EXPECT_EQ(verdict_on(7), LeakVerdict::certain);
  EXPECT_EQ(verdict_on(8), LeakVerdict::explained);
  add_pages(7, 5000, 0, kMovable);
  EXPECT_EQ(verdict_on(7), LeakVerdict::explained);
}

TEST_F(Leaks, BelowTheThresholdItIsSlow) {
  leak(1);
  churn(2);
  const LeaksResult result = leaks(20000);
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::unsure);
  EXPECT_FALSE(result.found());
}

// A group that gains 600 objects every 3 seconds has too few steps for a trend. A group that gains objects all the time
// has no steps.
TEST_F(Leaks, GrowthInStepsIsUnsure) {
  for (std::uint64_t step = 2; step < 10; step += 3)
    for (std::uint64_t i = 0; i < 600; ++i) allocate(step * kSecond + i * 1000, 1, next += 4096);
  allocate(0, 1, next += 4096);
  churn(2);
  leak(3);
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::unsure);
  EXPECT_EQ(row_of(result, 1)->steps, 3u);
  EXPECT_EQ(row_of(result, 3)->steps, 0u);
}

TEST_F(Leaks, ACacheThatStoppedGrowingIsPast) {
  leak(1, 0, 13 * kSecond / 2);
  churn(2);
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::past);
}

TEST_F(Leaks, ATraceUnderASecondIsNotJudged) {
  leak(1, 0, kSecond / 2);
  release(kSecond / 2, 0x10);
  for (std::uint64_t i = 0; i < 600; ++i) allocate(i * 1'000'000, 2, next += 4096);
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::too_short);
  EXPECT_EQ(row_of(result, 2)->verdict, LeakVerdict::too_short);
  EXPECT_EQ(result.unclear(), LeaksUnclear::too_short);
}

TEST_F(Leaks, ATraceThatLostMoreEventsThanItHasIsUnclear) {
  churn(1);
  const std::size_t events_of_trace = events.size();
  info.losses.intervals = {{0, events_of_trace, 0, kSecond / 10}};
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::none);
  info.losses.intervals = {{0, events_of_trace + 1, 0, kSecond / 10}};
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::mostly_lost);
}

TEST_F(Leaks, AnyLaterLossMayContainTheFree) {
  leak(1);
  churn(2);
  info.losses.intervals = {{0, 5, 6 * kSecond, 8 * kSecond}};
  const LeaksResult result = leaks();
  const LeakRow& row = *row_of(result, 1);
  EXPECT_EQ(row.main_doubt, Doubt::lost_stretch);
  EXPECT_EQ(row.doubtful.allocations, 800u);  // the objects allocated before the loss ended
  EXPECT_EQ(row.certain_bytes(), 200u * 128);
  EXPECT_EQ(row.verdict, LeakVerdict::uncertain);
  EXPECT_FALSE(result.found());
  EXPECT_EQ(result.unclear(), LeaksUnclear::missing_events);
}

TEST_F(Leaks, AnEarlyLossLeavesTheRestCertain) {
  leak(1);
  churn(2);
  info.losses.intervals = {{0, 5, 0, kSecond / 10}};
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::certain);
}

TEST_F(Leaks, LossesAtUnknownTimesMakeAllUncertain) {
  leak(1);
  churn(2);
  info.findings.count(Imperfection::missing_cpu);
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->main_doubt, Doubt::incomplete_trace);
  EXPECT_EQ(row_of(result, 1)->certain_bytes(), 0u);
  EXPECT_EQ(result.incomplete, std::vector{Imperfection::missing_cpu});
  EXPECT_EQ(result.unclear(), LeaksUnclear::missing_events);
}

TEST_F(Leaks, WithoutAPartOfTheRecordingNothingIsExcluded) {
  churn(1);
  allocate(0, 2, next += 4096);
  allocate(10 * kSecond, 3, next += 4096);
  info.findings.count(Imperfection::unknown_loss);
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::none);
  for (const Imperfection kind :
       {Imperfection::truncated_file, Imperfection::unfinished_file, Imperfection::cut_off_cpu}) {
    info.findings = {};
    info.findings.count(kind);
    EXPECT_EQ(leaks().unclear(), LeaksUnclear::missing_events) << describe(kind).id;
  }
}

TEST_F(Leaks, FreesByUnrecordedTasksMakeObjectsUncertain) {
  leak(1);
  churn(2);
  const auto doubt = [this] { return row_of(leaks(), 1)->main_doubt; };
  info.recording.notes = {{"arguments", "kmemtrace record -p 5"}};
  EXPECT_EQ(doubt(), Doubt::tasks_selected);
  info.recording.notes = {{"arguments", "kmemtrace graph vfs_read -- ls -a"}};
  EXPECT_EQ(doubt(), Doubt::tasks_selected);
  info.recording.notes = {{"arguments", "kmemtrace graph vfs_read -F vfs_read -a"}};
  EXPECT_EQ(doubt(), std::nullopt);
  info.recording.notes = {{"recorder", "perf 6.1"}, {"arguments", "/usr/bin/perf record -a -F 99"}};  // -F: a frequency
  EXPECT_EQ(doubt(), std::nullopt);
  info.findings.count(Imperfection::some_tasks);
  EXPECT_EQ(doubt(), Doubt::tasks_selected);
}

TEST_F(Leaks, LossesOnlyInStatisticsMakeAllUncertain) {
  leak(1, kSecond);
  churn(2);
  BufferStatistics statistics;
  statistics.overrun = 7;
  info.losses.buffers = {statistics};
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::incomplete_trace);
  info.losses.intervals = {{0, 7, 0, 1}};
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, std::nullopt);
}

TEST_F(Leaks, ReusedAddressesShowUntracedFrees) {
  leak(1);
  churn(2);
  allocate(2 * kSecond, 1, 0x5000);
  allocate(3 * kSecond, 1, 0x5000);
  const LeakRow row = *row_of(leaks(), 1);
  EXPECT_EQ(row.main_doubt, Doubt::reallocated);
  EXPECT_EQ(row.group.history->reallocated, 1u);
  EXPECT_EQ(row.group.history->reallocated_of, 1002u);
  EXPECT_EQ(row.verdict, LeakVerdict::uncertain);
}

TEST_F(Leaks, LessThanAHundredthIsNoUntracedPath) {
  leak(1);
  churn(1);
  allocate(2 * kSecond, 1, 0x5000);
  allocate(3 * kSecond, 1, 0x5000);
  EXPECT_EQ(row_of(leaks(), 1)->doubtful.allocations, 0u);
}

TEST_F(Leaks, AHundredthIsNotRoundedDown) {
  leak(1);
  churn(2);
  for (std::uint64_t i = 0; i < 150; ++i) {
    allocate(i * 1'000'000, 1, next += 4096);
    release(i * 1'000'000 + 1000, next);
  }
  allocate(2 * kSecond, 1, 0x5000);
  allocate(3 * kSecond, 1, 0x5000);
  EXPECT_EQ(row_of(leaks(), 1)->doubtful.allocations, 0u);  // only one of 151 objects is doubtful
}

// Objects with the same call site and size, such as names of dentries. Some of them are in kmalloc-rcl-* caches.
TEST_F(Leaks, KmallocObjectsOfReclaimableCachesAreUncertain) {
  constexpr std::uint32_t kReclaimable = 0x10;
  info.tables.gfp_flags = {{kReclaimable, "__GFP_RECLAIMABLE"}};
  leak(1);
  leak(2);
  churn(3);
  std::size_t seen = 0;
  for (Event& event : events)
    if (event.call_site.value == 1 || (event.call_site.value == 2 && ++seen % 4 == 0)) event.gfp_flags = kReclaimable;
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->main_doubt, Doubt::reclaimable);
  EXPECT_EQ(row_of(result, 1)->doubtful.bytes, 1000u * 128);
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::explained);
  const LeakRow& mixed = *row_of(result, 2);
  EXPECT_EQ(mixed.doubtful.bytes, 250u * 128);
  EXPECT_EQ(mixed.verdict, LeakVerdict::certain);
  // The reported growth is the certain part.
  EXPECT_NEAR(mixed.trend.bytes_per_s, 12800, 200);
  EXPECT_NEAR(mixed.certain.bytes_per_s, 9600, 200);
  const std::string text = text_leaks(result, LeaksOptions(), {});
  EXPECT_NE(text.find("site_2+0x1 (slab) grows for certain by +9.4 KiB/s, at least +9.3"), std::string::npos) << text;
  judges_reclaimable = true;
  EXPECT_EQ(row_of(leaks(), 1)->doubtful.bytes, 0u);
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::certain);
}

// The accounting data of a slab lives as long as the slab. Slabs of inodes and dentries are reclaimable, so growth of
// accounting data is never certain.
TEST_F(Leaks, AccountingDataOfSlabsIsUncertain) {
  leak(1);
  churn(2);
  EXPECT_EQ(row_of(leaks(), 1)->doubtful.bytes, 0u);
  info.tables.call_sites[1] = SiteNames::kOfAccounting;
  const LeaksResult result = leaks();
  const LeakRow* const row = row_of(result, SiteNames::kOfAccounting);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->main_doubt, Doubt::reclaimable);
  EXPECT_EQ(row->doubtful.bytes, 1000u * 128);
}

TEST_F(Leaks, AddressesReusedAfterALossProveNothing) {
  leak(1, 5 * kSecond);
  churn(2);
  allocate(2 * kSecond, 1, 0x5000);
  allocate(4 * kSecond, 1, 0x5000);
  info.losses.intervals = {{0, 5, 3 * kSecond, 3 * kSecond + 1}};
  EXPECT_EQ(row_of(leaks(), 1)->doubtful.allocations, 0u);
}

TEST_F(Leaks, ATraceWithoutFreesProvesNothing) {
  leak(1);
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::frees_not_recorded);
}

// The frees of cache objects and those of kmalloc objects are separate events. A trace may have only one of them.
TEST_F(Leaks, FreesOfAnotherKindProveNothing) {
  leak(1);
  churn(2);
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, std::nullopt);
  for (Event& event : events)
    if (event.call_site.value != 1)
      event.kind = event.kind == EventKind::kfree ? EventKind::cache_free : EventKind::cache_alloc;
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::frees_not_recorded);
  for (Event& event : events)
    if (event.call_site.value == 1) event.kind = EventKind::cache_alloc;
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, std::nullopt);
  for (Event& event : events)
    if (event.kind == EventKind::cache_free) event.kind = EventKind::kfree;
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::frees_not_recorded);
}

// A trace of kmemtrace contains the formats of recorded events only. If it has the format of a free event, but no
// frees, nothing was freed. Traces of other recorders also contain formats of events that were not recorded.
TEST_F(Leaks, OwnRecordingsProveThatNothingWasFreed) {
  leak(1);
  info.tables.event_types = {{"kmem", "kmalloc", EventKind::kmalloc}, {"kmem", "kfree", EventKind::kfree}};
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::frees_not_recorded);
  info.recording.notes["recorder"] = "kmemtrace 1.0";
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, std::nullopt);
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::certain);
  info.tables.event_types.push_back({"kmem", "kmem_cache_alloc", EventKind::cache_alloc});  // no event has this format
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, std::nullopt);
  for (Event& event : events) event.kind = EventKind::cache_alloc;
  EXPECT_EQ(row_of(leaks(), 1)->main_doubt, Doubt::frees_not_recorded);
}

// The trace contains no frees of this memory. That is no reason for doubt if free events were recorded. Lost events are
// a reason for doubt.
TEST_F(Leaks, PercpuMemoryAndAreasMayBeUncertain) {
  for (const auto& [alloc, free] : {std::pair(EventKind::percpu_alloc, EventKind::percpu_free),
                                    std::pair(EventKind::vmap_alloc, EventKind::vmap_free)}) {
    events.clear();
    churn(2);
    leak(1);
    for (Event& event : events)
      if (event.kind == EventKind::kmalloc && event.call_site.value == 1) event.kind = alloc;
    const auto doubt = [this] {
      const LeaksResult result = leaks();
      return result.tables[0].rows[0].main_doubt;
    };
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.losses.intervals.clear();
    info.findings = {};
    EXPECT_EQ(doubt(), Doubt::frees_not_recorded);
    info.tables.event_types.push_back({"kmem", "its_free", free});
    EXPECT_EQ(doubt(), std::nullopt);
    info.losses.intervals = {{0, 5, 6 * kSecond, 8 * kSecond}};
    EXPECT_EQ(doubt(), Doubt::lost_stretch);
    info.losses.intervals.clear();
    info.findings.count(Imperfection::missing_cpu);
    EXPECT_EQ(doubt(), Doubt::incomplete_trace);
  }
}

TEST_F(Leaks, ALossAfterTheSelectedTimeDoesNotMatter) {
  leak(1);
  churn(2);
  info.losses.intervals = {{0, 5, 11 * kSecond, 12 * kSecond}, {0, std::nullopt, 12 * kSecond, 0}};
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::certain);
  EXPECT_EQ(result.lost_until_ns, 0u);
  EXPECT_TRUE(result.incomplete.empty());
}

// The end of the file is missing, so the events of each CPU end at a different time. Until the first of these times,
// nothing is missing.
TEST_F(Leaks, ACutFileIsJudgedUntilTheFirstCpuEnds) {
  leak(1);
  churn(2);
  for (const Imperfection kind : {Imperfection::truncated_file, Imperfection::cut_off_cpu, Imperfection::unknown_loss})
    info.findings.count(kind);
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::missing_events);
  info.losses.complete_until_ns = 9 * kSecond;
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::certain);
  EXPECT_EQ(row_of(result, 1)->certain_bytes(), 901u * 128);  // the leaked objects of the first nine seconds
  EXPECT_EQ(result.cut_at_ns, 9 * kSecond);
  const std::string text = text_leaks(result, {}, {});
  EXPECT_NE(text.find("Judged until 9.000000000: the file was cut off"), std::string::npos) << text;

  info.findings.count(Imperfection::damaged_block);  // other parts than the end are missing too
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::missing_events);
}

TEST_F(Leaks, NothingIsSaidOfACutFileOfWhichOneCpuHasLessThanHalf) {
  churn(2);
  info.findings.count(Imperfection::cut_off_cpu);
  info.losses.complete_until_ns = 4 * kSecond;
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::missing_events);
  const std::string text = text_leaks(leaks(), {}, {});
  EXPECT_NE(text.find("most of its events are later than the last event of one CPU"), std::string::npos) << text;
  ReportFilter first_seconds;  // all of this time is in the file
  first_seconds.to = TimeEdge{3 * kSecond, false};
  const LeaksResult selected = leaks_of(report({GroupKey::call_site}, first_seconds), 1000);
  EXPECT_EQ(selected.unclear(), LeaksUnclear::none);
  EXPECT_EQ(selected.cut_at_ns, std::nullopt);
  info.losses.complete_until_ns = 6 * kSecond;
  EXPECT_EQ(leaks().unclear(), LeaksUnclear::none);
}

TEST_F(Leaks, NoGrowthIsJudgedByAClockThatDoesNotCountNanoseconds) {
  leak(1);
  churn(2);
  info.clock.in_ns = false;
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::no_clock);
  EXPECT_EQ(row_of(result, 1)->trend.growth, Growth::too_few_points);
  EXPECT_EQ(result.judged, 0u);
  EXPECT_EQ(result.unclear(), LeaksUnclear::no_clock);
}

// If there are too many groups, groups that may grow get a history first, then the groups with the most live memory.
// All other groups are only counted.
TEST_F(Leaks, IfThereAreTooManyGroupsOnlyGrowingOnesAreJudged) {
  constexpr std::uint32_t kGroups = Histories::kMostGroups + 500;
  for (std::uint32_t site = 1; site < kGroups; ++site) info.tables.call_sites.push_back(site + 3);
  churn(2);
  leak(1);
  for (std::uint32_t site = 3; site < kGroups; ++site) allocate(site, site, next += 4096, 1 << 20);
  LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::certain);
  EXPECT_EQ(result.groups_not_followed, 0u);

  for (std::uint32_t site = 3; site < kGroups; ++site)
    for (int i = 0; i < 3; ++i) allocate(site, site, next += 4096, 1 << 20);
  result = leaks();
  EXPECT_EQ(row_of(result, 1), nullptr);
  EXPECT_EQ(result.groups_not_followed, kGroups - 2 - Histories::kMostGroups);
  EXPECT_EQ(result.bytes_not_followed, (result.groups_not_followed - 1) * (4 << 20) + 1000 * 128);
}

TEST_F(Leaks, PagesWithoutAKeyShareOneRow) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Event event{};
    event.kind = i % 2 == 0 ? EventKind::page_alloc : EventKind::page_free;
    event.address = i % 4 == 3 ? i - 3 : i;
    event.time_ns = i * kSecond / 100;
    events.push_back(event);
  }
  const LeaksResult result = leaks();
  ASSERT_EQ(result.tables.size(), 1u);
  EXPECT_TRUE(result.tables[0].whole);
  EXPECT_EQ(result.tables[0].rows[0].group.live_allocations, 250u);
  EXPECT_EQ(result.tables[0].rows[0].group.live_bytes, 250u * 4096);
  EXPECT_EQ(result.tables[0].rows[0].verdict, LeakVerdict::certain);
}

TEST(UntracedPaths, CacheOrCallSiteAndVersionDecide) {
  EXPECT_NE(untraced_free_of("skbuff_head_cache", "f+0x1", KernelVersion{6, 1}), nullptr);
  EXPECT_EQ(untraced_free_of("skbuff_head_cache", "f+0x1", KernelVersion{4, 4}), nullptr);
  // SLUB merges caches, so an object may be in a cache with another cache's name.
  EXPECT_NE(untraced_free_of("dentry", "__alloc_skb+0x1", KernelVersion{6, 1}), nullptr);
  EXPECT_EQ(untraced_free_of("dentry", "d_alloc+0x1", KernelVersion{6, 1}), nullptr);
  EXPECT_NE(untraced_free_of("", "__alloc_skb+0x1", KernelVersion{6, 1}), nullptr);
  EXPECT_NE(untraced_free_of("io_kiocb", "f", KernelVersion{5, 15}), nullptr);
  EXPECT_EQ(untraced_free_of("io_kiocb", "f", KernelVersion{6, 1}), nullptr);
  EXPECT_EQ(untraced_free_of("io_kiocb", "f", std::nullopt), nullptr);
}

// Rows about pages name no cache. They must not be about frees, because a row without a cache matches any slab object.
TEST(UntracedPaths, RowsOfPagesNameAllocations) {
  std::size_t rows = 0;
  for (const UntracedPath& path : untraced_paths()) {
    if (!path.of_pages) continue;
    ++rows;
    EXPECT_FALSE(path.frees) << path.sentence;
    EXPECT_TRUE(path.cache.empty() && path.call_site.empty()) << path.sentence;
  }
  EXPECT_EQ(rows, 3u);
}

TEST(UntracedPaths, AProbedPathIsTraced) {
  TraceInfo info;
  info.tables.event_types = {{"kmem", "kfree", EventKind::kfree}, {"kmemtrace", "free_bulk", EventKind::bulk_free}};
  const std::vector<std::string_view> probed = probed_functions(info);
  EXPECT_EQ(probed, std::vector{kBulkFreeFunction});
  EXPECT_NE(untraced_free_of("maple_node", "f", KernelVersion{6, 1}), nullptr);
  EXPECT_EQ(untraced_free_of("maple_node", "f", KernelVersion{6, 1}, probed), nullptr);
  EXPECT_NE(untraced_free_of("maple_node", "f", KernelVersion{6, 18}, probed), nullptr) << "kfree_rcu() has no probe";
}

TEST_F(Leaks, GrowthThatEndedEarlyIsPast) {
  leak(1);
  churn(2);
  EXPECT_EQ(row_of(leaks(), 1)->verdict, LeakVerdict::certain);
  info.recording.samples = {{0, 0, {}}, {15 * kSecond, 0, {}}};
  const LeaksResult result = leaks();
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::past);
  EXPECT_EQ(result.axis.end_ns, 15 * kSecond);
  EXPECT_EQ(row_of(result, 1)->group.history->oldest_ns, 15 * kSecond);
}

TEST_F(Leaks, GrowthByChanceAmongManyGroupsIsUneven) {
  churn(2);
  for (std::uint64_t time = 0; time < 10 * kSecond; time += kSecond / 100)  // this group grows in bursts
    for (std::uint64_t i = 0; i < (time / kSecond % 3 == 0 ? 40u : 1u); ++i) allocate(time, 1, next += 4096);
  const LeaksResult alone = leaks();
  EXPECT_EQ(row_of(alone, 1)->verdict, LeakVerdict::certain);
  info.tables.call_sites.resize(3000);
  for (std::uint32_t site = 4; site < 3000; ++site) info.tables.call_sites[site] = 0x1000 + site;
  for (std::uint32_t site = 4; site < 3000; ++site)
    for (std::uint64_t i = 0; i < 40; ++i) allocate(i * kSecond / 4, site, next += 4096, 8);
  const LeaksResult result = leaks();
  EXPECT_LT(row_of(result, 1)->trend.evenness, result.confidence_needed);
  EXPECT_EQ(row_of(result, 1)->verdict, LeakVerdict::uneven);
}

using TimelineTest = Leaks;

TEST_F(TimelineTest, FreePagesEqualThoseOfTheZones) {
  const auto page = [&](EventKind kind, std::uint64_t time_ns, unsigned order) {
    Event event{};
    event.kind = kind;
    event.time_ns = time_ns;
    event.address = next += 1024;
    event.order = static_cast<std::uint8_t>(order);
    events.push_back(event);
  };
  page(EventKind::page_alloc, kSecond, 0);      // taken from the list of a CPU
  page(EventKind::page_alloc, 2 * kSecond, 4);  // taken from the zone, as the next event shows
  page(EventKind::page_alloc_zone_locked, 2 * kSecond, 4);
  page(EventKind::page_alloc_zone_locked, 3 * kSecond, 0);  // refills the list of a CPU
  page(EventKind::page_pcpu_drain, 4 * kSecond, 1);
  page(EventKind::page_free, 5 * kSecond, 0);  // returned to the list of a CPU
  page(EventKind::page_free, 6 * kSecond, 5);  // returned to the zone
  info.recording.samples = {{0, 0, {{"meminfo", "MemFree: 1000 kB\n"}}},
                            {9 * kSecond, 0, {{"meminfo", "MemFree: 1068 kB\n"}}}};
  const TimelineResult result = timeline_of(report(), {});
  ASSERT_EQ(result.balances.size(), 1u);
  EXPECT_EQ(result.balances[0].explained, (2 + 32 - 16 - 1) * 4096);
  info.machine.kernel = "5.10.0";  // in Linux 5.10, the lists of CPUs contain only single pages
  events.back().order = 2;
  EXPECT_EQ(timeline_of(report(), {}).balances[0].explained, (2 + 4 - 16 - 1) * 4096);
}

TEST_F(TimelineTest, SlabLinesAreComparedWithTheirCaches) {
  class Names : public SymbolNames {
    std::string name(std::uint64_t address) const override { return address == 2 ? "__d_alloc+0x29" : "f+0x1"; }
  };
  for (std::uint64_t i = 0; i < 10; ++i) {
    allocate(kSecond + i, 1, next += 4096, 1024);
    allocate(kSecond + i, 2, next += 4096, 192);  // a dentry
    events.back().kind = EventKind::cache_alloc;
  }
  allocate(kSecond, 1, next += 65536, 65536);  // a kmalloc of whole pages, which no slab line of meminfo counts
  release(kSecond, 42);
  release(kSecond, 43);
  events.back().kind = EventKind::cache_free;
  info.recording.samples = {{0, 0, {{"meminfo", "Slab: 100 kB\nSReclaimable: 50 kB\nSUnreclaim: 50 kB\n"}}},
                            {9 * kSecond, 0, {{"meminfo", "Slab: 112 kB\nSReclaimable: 52 kB\nSUnreclaim: 60 kB\n"}}}};
  ReportRequest request;
  request.history = true;
  const Names names;
  ReportAnalysis analysis(info, names, request);
  analysis.add(events);
  std::map<std::string, std::int64_t> explained;
  for (const Balance& balance : timeline_of(analysis.finish(), {}).balances)
    explained[balance.name] = balance.explained;
  EXPECT_EQ(explained["Slab"], 10 * (1024 + 192));
  EXPECT_EQ(explained["SReclaimable"], 10 * 192);
  EXPECT_EQ(explained["SUnreclaim"], 10 * 1024);
}

TEST_F(TimelineTest, WithoutFreesThereIsNoBalance) {
  leak(1);
  info.recording.samples = {{0, 0, {{"meminfo", "Slab: 100 kB\nMemFree: 5000 kB\n"}}},
                            {9 * kSecond, 0, {{"meminfo", "Slab: 228 kB\nMemFree: 5000 kB\n"}}}};
  EXPECT_TRUE(timeline_of(report(), {}).balances.empty());
  release(kSecond, 42);
  EXPECT_EQ(timeline_of(report(), {}).balances.size(), 1u);
}

TEST_F(TimelineTest, ComparesSamplesWithTheTrace) {
  leak(1);
  churn(2);
  StateSample first{kSecond, 0, {{"meminfo", "SUnreclaim: 100 kB\n"}}};
  StateSample last{9 * kSecond, 0, {{"meminfo", "SUnreclaim: 228 kB\n"}}};
  info.recording.samples = {first, last};
  const TimelineResult result = timeline_of(report(), {});
  ASSERT_EQ(result.balances.size(), 1u);
  EXPECT_EQ(result.balances[0].name, "SUnreclaim");
  EXPECT_EQ(result.balances[0].last - result.balances[0].first, 128 * 1024.0);
  // The tolerance is a time bucket at each end.
  EXPECT_NEAR(static_cast<double>(result.balances[0].explained), 800 * 128, 4 * 128);
  ASSERT_EQ(result.allocators.size(), 1u);
  ASSERT_EQ(result.groups.size(), 2u);
  EXPECT_EQ(result.groups[0].points.back().live_bytes, 1000 * 128);
}

TEST_F(TimelineTest, ATraceWithoutEventsShowsItsSamples) {
  for (std::uint64_t i = 1; i < 10; ++i)
    info.recording.samples.push_back({i * kSecond, 0, {{"meminfo", "SUnreclaim: 100 kB\n"}}});
  const TimelineResult result = timeline_of(report(), {});
  ASSERT_EQ(result.report.histories->memory.size(), 1u);
  EXPECT_EQ(result.report.histories->memory[0].points.size(), 9u);
  EXPECT_EQ(result.axis.buckets, 9u);
  EXPECT_EQ(result.axis.start_ns, kSecond);
  EXPECT_EQ(result.axis.end_ns, 9 * kSecond);
  EXPECT_TRUE(result.allocators.empty());
}

TEST_F(TimelineTest, APartOfATraceHasSamplesOfThatPartAndNoBalance) {
  leak(1);
  churn(2);
  info.recording.samples = {{0, 0, {{"meminfo", "SUnreclaim: 90 kB\n"}}}};
  for (std::uint64_t i = 1; i < 13; ++i)
    info.recording.samples.push_back({i * kSecond, 0, {{"meminfo", "SUnreclaim: 100 kB\n"}}});
  const auto points = [](const TimelineResult& result) { return result.report.histories->memory[0].points.size(); };
  const TimelineResult whole = timeline_of(report(), {});
  EXPECT_EQ(points(whole), 13u);
  EXPECT_EQ(whole.balances.size(), 1u);
  ReportFilter filter;
  filter.to = TimeEdge{5 * kSecond};
  const TimelineResult chosen = timeline_of(report({GroupKey::call_site}, filter), {.balances = false});
  EXPECT_EQ(points(chosen), 5u);
  EXPECT_TRUE(chosen.balances.empty());
  const TimelineResult part = timeline_of(report({GroupKey::call_site}, {}, false), {});
  EXPECT_EQ(points(part), 10u);  // the time of the last event is 9.99 s
  EXPECT_TRUE(part.balances.empty());
}

TEST_F(TimelineTest, SizesWhoseSumOverflows) {
  for (std::uint64_t i = 0; i < 6; ++i) allocate(i * kSecond, 1, next += 4096, std::uint64_t{1} << 62);
  release(kSecond, 42);
  info.recording.samples = {{kSecond / 2, 0, {{"meminfo", "SUnreclaim: 100 kB\n"}}},
                            {9 * kSecond, 0, {{"meminfo", "SUnreclaim: 228 kB\n"}}}};
  const TimelineResult result = timeline_of(report(), {});
  EXPECT_EQ(result.allocators[0].points.back().live_bytes, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(result.balances.size(), 1u);
}

TEST_F(TimelineTest, FewerBucketsHaveTheSameSums) {
  leak(1);
  churn(2);
  const TimelineResult fine = timeline_of(report(), {});
  const TimelineResult coarse = timeline_of(report(), {.buckets = 10});
  EXPECT_LE(coarse.axis.buckets, 10u);
  EXPECT_EQ(coarse.axis.buckets, coarse.allocators[0].points.size());
  std::uint64_t fine_sum = 0;
  std::uint64_t coarse_sum = 0;
  for (const TimeSeriesPoint& point : fine.allocators[0].points) fine_sum += point.bytes_allocated;
  for (const TimeSeriesPoint& point : coarse.allocators[0].points) coarse_sum += point.bytes_allocated;
  EXPECT_EQ(fine_sum, coarse_sum);
  EXPECT_EQ(fine.allocators[0].points.back().live_bytes, coarse.allocators[0].points.back().live_bytes);
}

TEST_F(TimelineTest, FreePagesFallByTheAllocatedPages) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    Event event{};
    event.kind = i < 3 ? EventKind::page_free : EventKind::page_alloc;
    event.address = 100 + i;
    event.time_ns = (i + 1) * kSecond;
    events.push_back(event);
  }
  info.recording.samples = {{kSecond / 2, 0, {{"meminfo", "MemFree: 400 kB\n"}}},
                            {11 * kSecond, 0, {{"meminfo", "MemFree: 384 kB\n"}}}};
  const TimelineResult result = timeline_of(report(), {});
  ASSERT_EQ(result.balances.size(), 1u);
  // Three pages from before the trace are freed, and seven are allocated: 3 - 7 = -4.
  EXPECT_EQ(result.balances[0].explained, -4 * 4096);
}

}  // namespace
}  // namespace kmt
