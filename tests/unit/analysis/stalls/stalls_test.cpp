// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the rules of `pages --stalls` and `report --metric stall`, and their output, with hand-made events.
#include "analysis/stalls/stalls.hpp"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/stalls/follower.hpp"
#include "support/documented_keys.hpp"
#include "views/json/pages.hpp"
#include "views/text/stalls.hpp"

namespace kmt {
namespace {

class PlainNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "function_" + std::to_string(address); }
};

constexpr std::uint64_t kBase = 0xffff888000000000;

class Stalls : public testing::Test {
 protected:
  Stalls() {
    info.machine.page_size = 4096;
    info.recording.page_identity = PageIdentity::frame;
    info.tables.event_types = {{"vmscan", "some", EventKind::stall_begin}};
    info.tables.call_sites = {0, 77};
    info.tables.cache_names = {"", "dentry"};
    info.tasks.comms = {{7, "worker"}, {8, "other"}, {50, "kswapd0"}, {51, "kcompactd0"}};
  }

  Event& add(std::uint64_t ms, EventKind kind, std::int32_t tid = 7) {
    Event event{};
    event.kind = kind;
    event.tid = tid;
    event.time_ns = ms * 1'000'000;
    event.node = kNoNode;
    events.push_back(event);
    return events.back();
  }
  Event& begin(std::uint64_t ms, StallKind kind, unsigned order = 0, std::int32_t tid = 7) {
    Event& event = add(ms, EventKind::stall_begin, tid);
    event.fallback_order = static_cast<std::uint8_t>(kind);
    event.order = static_cast<std::uint8_t>(order);
    event.gfp_flags = 0xcc0;
    return event;
  }
  void end(std::uint64_t ms, StallKind kind, std::uint64_t pages = 0, std::int32_t tid = 7) {
    Event& event = add(ms, EventKind::stall_end, tid);
    event.fallback_order = static_cast<std::uint8_t>(kind);
    event.bytes_allocated = pages;
  }
  Event& mark(std::uint64_t ms, StallKind kind, std::int32_t tid = 7) {
    Event& event = add(ms, EventKind::stall_mark, tid);
    event.fallback_order = static_cast<std::uint8_t>(kind);
    return event;
  }
  Event& pages(std::uint64_t ms, std::uint64_t frame, unsigned order = 0, std::int32_t tid = 7) {
    Event& event = add(ms, EventKind::page_alloc, tid);
    event.address = frame;
    event.order = static_cast<std::uint8_t>(order);
    return event;
  }
  void object(std::uint64_t ms, std::uint64_t address) {
    Event& event = add(ms, EventKind::kmalloc);
    event.address = address;
    event.bytes_requested = 100;
    event.call_site = {1};
  }
  StallsResult result(ReportFilter filter = {}, std::vector<GroupKey> by = {}) {
    ReportRequest request;
    request.filter = std::move(filter);
    request.by = std::move(by);
    StallsAnalysis analysis(info, names, std::move(request), 0);
    analysis.add(events);
    return analysis.finish();
  }
  static std::uint64_t own_ms(const WaitSums& sums, StallKind kind) {
    return sums.own_ns[static_cast<std::size_t>(kind)] / 1'000'000;
  }

  TraceInfo info;
  PlainNames names;
  EventBatch events;
};

// "This order-3 kmalloc waited 41 ms, 38 ms of it in compaction."
TEST_F(Stalls, AWaitHasAllStallsBeforeItsAllocation) {
  pages(1, 5);
  Event& request = mark(10, StallKind::compaction_request);
  request.order = 3;
  request.gfp_flags = 0xcc0;
  begin(10, StallKind::compaction);
  end(40, StallKind::compaction);
  begin(41, StallKind::direct_reclaim, 3);
  begin(42, StallKind::compaction);
  end(50, StallKind::compaction);
  end(52, StallKind::direct_reclaim, 32);
  pages(53, 0x1230, 3);
  object(54, kBase + (0x1230 + 7) * 4096 + 128);
  const StallsResult stalls = result();
  ASSERT_EQ(stalls.longest.size(), 1u);
  const Wait& wait = stalls.longest.front();
  EXPECT_EQ(wait.began_ns, 10'000'000u);
  EXPECT_EQ(wait.sums.total_ns, 41'000'000u);
  EXPECT_EQ(own_ms(wait.sums, StallKind::compaction), 38u);
  EXPECT_EQ(own_ms(wait.sums, StallKind::direct_reclaim), 3u);
  EXPECT_EQ(wait.sums.reclaimed_pages, 32u);
  EXPECT_EQ(wait.order, 3u);
  EXPECT_EQ(wait.task, "worker-7");
  ASSERT_TRUE(wait.memory);
  EXPECT_EQ(wait.memory->allocator, "slab");
  EXPECT_EQ(wait.memory->call_site, "function_77");
  EXPECT_EQ(wait.memory->bytes_requested, 100u);
  EXPECT_EQ(stalls.some_ns, 41'000'000u);
  EXPECT_EQ(stalls.counts.direct_reclaims, 1u);
  EXPECT_EQ(stalls.counts.compactions, 1u);
  EXPECT_EQ(stalls.counts.failed_compactions, 1u);  // reclaim followed, so the first compaction gave no pages
}

TEST_F(Stalls, AnObjectElsewhereIsNotTheAwaitedMemory) {
  begin(10, StallKind::direct_reclaim);
  end(20, StallKind::direct_reclaim);
  pages(21, 0x1230);
  object(22, kBase + 0x1234 * 4096);
  const StallsResult stalls = result();
  ASSERT_TRUE(stalls.longest.at(0).memory);
  EXPECT_EQ(stalls.longest[0].memory->allocator, "pages");
  EXPECT_EQ(stalls.call_sites.at(0).name, "unknown");
}

TEST_F(Stalls, CgroupReclaimChargesThePagesBefore) {
  pages(1, 5).gfp_flags = 0x08;  // __GFP_MOVABLE
  begin(2, StallKind::cgroup_reclaim);
  end(5, StallKind::cgroup_reclaim, 4);
  begin(6, StallKind::cgroup_reclaim);  // a second attempt for the same pages
  end(7, StallKind::cgroup_reclaim, 4);
  object(8, kBase + 5 * 4096 + 64 * 4096);
  begin(20, StallKind::cgroup_reclaim);
  end(22, StallKind::cgroup_reclaim);
  object(23, kBase + 9 * 4096);
  const StallsResult stalls = result();
  ASSERT_EQ(stalls.longest.size(), 2u);
  EXPECT_EQ(stalls.longest[0].sums.total_ns, 4'000'000u);
  EXPECT_EQ(stalls.longest[0].sums.reclaimed_pages, 8u);
  EXPECT_FALSE(stalls.longest[0].order);
  EXPECT_EQ(stalls.longest[0].memory->allocator, "pages");
  EXPECT_EQ(stalls.longest[1].memory->allocator, "slab");
}

TEST_F(Stalls, SleepingIsNestedInReclaim) {
  begin(10, StallKind::direct_reclaim);
  mark(30, StallKind::throttled).address = 15'000'000;
  mark(31, StallKind::throttled).address = 60'000'000;  // rounded up by the kernel: cut to the rest of the stall
  end(40, StallKind::direct_reclaim);
  const StallsResult stalls = result();
  EXPECT_EQ(own_ms(stalls.total, StallKind::throttled), 21u);
  EXPECT_EQ(own_ms(stalls.total, StallKind::direct_reclaim), 9u);
  EXPECT_EQ(stalls.total.total_ns, 30'000'000u);
}

TEST_F(Stalls, KernelThreadsInTheBackgroundAreNotWaiting) {
  begin(10, StallKind::kswapd, 0, 50).node = 0;
  mark(15, StallKind::throttled, 50).address = 2'000'000;
  begin(16, StallKind::kswapd, 0, 50).node = 0;
  end(30, StallKind::kswapd, 0, 50);
  end(35, StallKind::kswapd, 0, 50);  // a sleep without a wakeup
  begin(40, StallKind::compaction, 0, 51);
  end(45, StallKind::compaction, 0, 51);
  const StallsResult stalls = result();
  EXPECT_EQ(stalls.total.waits, 0u);
  ASSERT_EQ(stalls.background.size(), 2u);
  EXPECT_EQ(stalls.background[0].wakeups, 2u);
  EXPECT_EQ(stalls.background[0].awake_ns, 20'000'000u);
  EXPECT_EQ(stalls.background[0].throttled_ns, 2'000'000u);
  EXPECT_EQ(stalls.background[1].compaction_ns, 5'000'000u);
}

TEST_F(Stalls, ScansCountForTheStallAroundThem) {
  begin(10, StallKind::direct_reclaim);
  Event& scan = mark(11, StallKind::scan);
  scan.bytes_requested = 32;
  scan.bytes_allocated = 8;
  scan.node = 1;
  end(12, StallKind::direct_reclaim);
  const StallsResult stalls = result();
  ASSERT_EQ(stalls.scans.size(), 1u);
  EXPECT_EQ(stalls.scans[0].scanner, Scanner::direct_reclaim);
  EXPECT_EQ(stalls.scans[0].node, 1);
  EXPECT_EQ(stalls.scans[0].scanned_pages, 32u);
  EXPECT_EQ(stalls.scans[0].reclaimed_pages, 8u);
}

TEST_F(Stalls, LossesMakeStallsUncertain) {
  end(5, StallKind::direct_reclaim);  // began before the trace
  begin(10, StallKind::direct_reclaim);
  end(20, StallKind::direct_reclaim);
  pages(21, 9);
  begin(30, StallKind::direct_reclaim);
  end(40, StallKind::direct_reclaim);
  info.losses.intervals.push_back({1, 5, 32'000'000, 35'000'000});
  const StallsResult stalls = result();
  EXPECT_EQ(stalls.total.total_ns, 10'000'000u);
  EXPECT_EQ(stalls.uncertain_stalls, 2u);
  EXPECT_FALSE(stalls.some_ns);
}

// Compares with a scan of all losses.
TEST_F(Stalls, OnlyStallsWithLossesAreUncertain) {
  std::vector<LostEvents>& losses = info.losses.intervals;
  std::uint64_t random = 1;
  const auto next = [&random](std::uint64_t below) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return (random >> 33) % below;
  };
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint64_t from = next(100'000) * 1'000'000;
    losses.push_back({i % 4, 1, from, from + next(60) * 1'000'000 + 1});
  }
  losses.push_back({0, 1, 95'000'000'000, 0});  // its end is unknown
  std::uint64_t certain = 0;
  for (std::uint64_t ms = 1; ms < 100'000; ms += 50) {
    begin(ms, StallKind::direct_reclaim);
    end(ms + 20, StallKind::direct_reclaim);
    pages(ms + 21, ms);
    const auto is_lossy = [ms](const LostEvents& lost) {
      return lost.before_ns < (ms + 20) * 1'000'000 && (lost.after_ns == 0 || lost.after_ns > ms * 1'000'000);
    };
    if (std::ranges::none_of(losses, is_lossy)) ++certain;
  }
  const StallsResult stalls = result();
  EXPECT_GT(certain, 0u);
  EXPECT_EQ(stalls.total.waits, certain);
  EXPECT_EQ(stalls.uncertain_stalls, 2000 - certain);
}

TEST_F(Stalls, ALostEndDoesNotJoinTwoStalls) {
  begin(10, StallKind::direct_reclaim);
  begin(100, StallKind::direct_reclaim);
  end(120, StallKind::direct_reclaim);
  const StallsResult stalls = result();
  EXPECT_EQ(stalls.total.total_ns, 20'000'000u);
  EXPECT_EQ(stalls.uncertain_stalls, 1u);
}

TEST_F(Stalls, TheEndOfTheTraceCutsAStall) {
  begin(10, StallKind::direct_reclaim);
  pages(25, 9, 0, 8);
  const StallsResult stalls = result();
  EXPECT_EQ(stalls.total.total_ns, 15'000'000u);
  EXPECT_EQ(stalls.unfinished_waits, 1u);
}

TEST_F(Stalls, TimesMayBeAnyNumber) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kWaited = std::uint64_t{1} << 40;
  pages(0, 5).time_ns = 1;
  begin(0, StallKind::direct_reclaim).time_ns = kLast - kWaited;
  end(0, StallKind::direct_reclaim);
  events.back().time_ns = kLast;
  const StallsResult stalls = result();
  const std::vector<std::uint64_t>& waiting_ns = stalls.over_time.waiting_ns;
  EXPECT_EQ(stalls.total.total_ns, kWaited);
  EXPECT_EQ(std::accumulate(waiting_ns.begin(), waiting_ns.end(), std::uint64_t{0}), kWaited);
}

TEST_F(Stalls, AWaitOfManyStallsKeepsFewTimes) {
  pages(1, 5);
  for (std::uint64_t ms = 10; ms < 30'010; ms += 2) {
    begin(ms, StallKind::direct_reclaim);
    end(ms + 1, StallKind::direct_reclaim);
  }
  std::vector<FollowedWait> waits;
  StallFollower follower(
      info, info.tasks, [&waits](const FollowedWait& wait) { waits.push_back(wait); },
      [](const Event&, StallFollower::Compaction) {});
  for (const Event& event : events) follower.add(event);
  follower.finish();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].waited_ns, 15'000'000'000u);
  EXPECT_LE(waits[0].times_ns.size(), 4096u);
  std::uint64_t sum_ns = 0;
  std::uint64_t last_ns = 0;
  for (const auto& [from_ns, to_ns] : waits[0].times_ns) {
    EXPECT_GE(from_ns, last_ns);
    sum_ns += to_ns - from_ns;
    last_ns = to_ns;
  }
  EXPECT_EQ(sum_ns, waits[0].waited_ns);
}

TEST_F(Stalls, GroupsAddUpToTheTotal) {
  begin(10, StallKind::direct_reclaim, 2);
  begin(12, StallKind::direct_reclaim, 0, 8);
  end(15, StallKind::direct_reclaim, 1);
  end(19, StallKind::direct_reclaim, 2, 8);
  const StallsResult stalls = result();
  for (const auto* const groups : {&stalls.processes, &stalls.cgroups, &stalls.call_sites, &stalls.orders}) {
    WaitSums sums;
    for (const WaitGroup& group : *groups) sums.add(group.sums);
    EXPECT_EQ(sums.total_ns, 12'000'000u);
    EXPECT_EQ(sums.waits, 2u);
  }
  EXPECT_EQ(stalls.some_ns, 9'000'000u);
  EXPECT_EQ(stalls.processes.at(0).name, "other-8");
  ReportFilter only;
  only.comms = {"worker"};
  EXPECT_EQ(result(only).total.total_ns, 5'000'000u);
}

TEST_F(Stalls, CompactionsAreThoseOfSelectedTasks) {
  pages(1, 5);
  for (const std::int32_t tid : {7, 8, 8}) {
    mark(10, StallKind::compaction_request, tid).order = 3;
    begin(10, StallKind::compaction, 0, tid);
    end(11, StallKind::compaction, 0, tid);
  }
  mark(20, StallKind::compaction_request, 8).order = 3;
  ReportFilter only;
  only.comms = {"other"};
  EXPECT_EQ(result().counts.compactions, 3u);
  EXPECT_EQ(result().counts.failed_compactions, 2u);
  EXPECT_EQ(result(only).counts.compactions, 2u);
  EXPECT_EQ(result(only).counts.compaction_requests, 3u);
}

TEST_F(Stalls, GroupsHaveTheKeysOfTheAwaitedMemory) {
  pages(1, 5);
  begin(10, StallKind::direct_reclaim, 3);
  end(12, StallKind::direct_reclaim);
  pages(13, 0x1230, 3);
  object(14, kBase + 0x1230 * 4096);
  begin(20, StallKind::direct_reclaim, 1, 8);
  end(27, StallKind::direct_reclaim, 0, 8);
  pages(28, 0x2000, 1, 8);
  begin(30, StallKind::cgroup_reclaim, 0, 8);  // without an allocation afterwards
  end(31, StallKind::cgroup_reclaim, 0, 8);
  const auto names_of = [](const StallsResult& stalls) {
    std::string text;
    for (const WaitRow& row : stalls.groups)
      text += row.name + ": " + std::to_string(row.sums.total_ns / 1'000'000) + " ms\n";
    return text;
  };
  using enum GroupKey;
  EXPECT_EQ(names_of(result({}, {comm})), "other: 8 ms\nworker: 2 ms\n");
  EXPECT_EQ(names_of(result({}, {order, comm})), "1, other: 7 ms\n3, worker: 2 ms\nunknown, other: 1 ms\n");
  EXPECT_EQ(names_of(result({}, {call_site})), "unknown: 8 ms\nfunction_77: 2 ms\n");
  EXPECT_EQ(names_of(result({}, {size, requested_size})), "8192, 8192: 7 ms\n0, 100: 2 ms\nunknown, unknown: 1 ms\n");
  EXPECT_EQ(names_of(result({}, {gfp})), "0xcc0: 10 ms\n");
  EXPECT_EQ(names_of(result()), "");
}

TEST_F(Stalls, PagesHaveTheCallerInTheirStack) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      return std::vector<std::string>{"", "try_to_free_pages", "__alloc_pages+0x1", "read_file", "syscall"}.at(address);
    }
  };
  const Names functions;
  const StackId where = info.tables.stacks.add(std::vector<std::uint64_t>{1, 2, 3, 4});
  const StackId after = info.tables.stacks.add(std::vector<std::uint64_t>{2, 3, 4});
  begin(10, StallKind::direct_reclaim).stack = where;  // its allocation is missing
  end(12, StallKind::direct_reclaim);
  begin(20, StallKind::direct_reclaim, 0, 8).stack = where;
  end(23, StallKind::direct_reclaim, 0, 8);
  pages(24, 9, 0, 8).stack = after;
  ReportRequest request;
  request.by = {GroupKey::call_site};
  StallsAnalysis analysis(info, functions, std::move(request), 0);
  analysis.add(events);
  const StallsResult stalls = analysis.finish();
  ASSERT_EQ(stalls.groups.size(), 1u);
  EXPECT_EQ(stalls.groups[0].name, "read_file");
  EXPECT_EQ(stalls.groups[0].sums.total_ns, 5'000'000u);
  EXPECT_EQ(stalls.call_sites.at(0).name, "read_file");
}

TEST_F(Stalls, WaitingTimeIsDividedAmongBuckets) {
  pages(0, 5);
  for (std::uint64_t ms = 100; ms < 100'000; ms += 100) {
    begin(ms, StallKind::direct_reclaim);
    begin(ms, StallKind::direct_reclaim, 0, 8);
    end(ms + ms / 1000, StallKind::direct_reclaim);
    end(ms + 10, StallKind::direct_reclaim, 0, 8);
  }
  const WaitsOverTime waits = result().over_time;
  std::vector<std::uint64_t> expected(waits.waiting_ns.size());
  for (std::uint64_t ms = 100; ms < 100'000; ms += 100)
    for (const std::uint64_t length : {ms / 1000, std::uint64_t{10}})
      for (std::size_t bucket = 0; bucket < expected.size(); ++bucket) {
        const std::uint64_t from = std::max(ms * 1'000'000, bucket * waits.bucket_ns);
        const std::uint64_t to = std::min((ms + length) * 1'000'000, (bucket + 1) * waits.bucket_ns);
        if (from < to) expected[bucket] += to - from;
      }
  EXPECT_EQ(waits.start_ns, 0u);
  EXPECT_LE(waits.waiting_ns.size(), 512u);
  EXPECT_EQ(waits.waiting_ns, expected);
}

TEST_F(Stalls, KernelCountersAreRises) {
  info.recording.samples = {{0, 0, {{"vmstat", "allocstall_dma 1\nallocstall_normal 5\ncompact_stall 2\n"}}},
                            {1, 1, {{"vmstat", "allocstall_dma 1\nallocstall_normal 9\ncompact_stall 2\n"}}}};
  using Counters = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(result().kernel_counters, (Counters{{"allocstall", 4}, {"compact_stall", 0}}));
}

TEST_F(Stalls, TextBeginsWithAVerdict) {
  begin(10, StallKind::direct_reclaim);
  end(15, StallKind::direct_reclaim);
  TextStyle style;
  style.width = 200;
  const std::string text = text_stalls(result(), {}, style);
  EXPECT_TRUE(text.starts_with("Tasks waited 5.0 ms for memory in 5.0 ms, in 1 wait: 100.0% direct reclaim.")) << text;
}

TEST_F(Stalls, TextNamesTheMemoryOfTheLongestWait) {
  pages(1, 5);
  begin(10, StallKind::direct_reclaim, 3);
  end(51, StallKind::direct_reclaim);
  pages(52, 0x1230, 3);
  object(53, kBase + 0x1230 * 4096);
  TextStyle style;
  style.width = 400;
  const std::string text = text_stalls(result({}, {GroupKey::order, GroupKey::comm}), {}, style);
  EXPECT_NE(
      text.find("It was for 100 B by kmalloc in function_77 (order 3); 41.0 ms of the wait were in direct reclaim."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Waits by Order, Name"), std::string::npos) << text;
  EXPECT_EQ(text.find("Waits by process"), std::string::npos) << text;
}

TEST_F(Stalls, ATraceWithoutSuchEventsSaysHowToRecordThem) {
  info.tables.event_types = {{"kmem", "mm_page_alloc", EventKind::page_alloc}};
  pages(1, 5);
  const std::string text = text_stalls(result(), {}, {});
  EXPECT_NE(text.find("no events of stalls"), std::string::npos) << text;
  EXPECT_NE(text.find("kmemtrace record --stalls"), std::string::npos) << text;
  EXPECT_EQ(text.find("No task waited"), std::string::npos) << text;
}

TEST_F(Stalls, JsonIsDocumented) {
  pages(1, 5);
  begin(10, StallKind::direct_reclaim, 2).node = 0;
  mark(11, StallKind::scan);
  end(15, StallKind::direct_reclaim, 1);
  pages(16, 9, 2);
  begin(20, StallKind::kswapd, 0, 50).node = 0;
  const auto json = nlohmann::ordered_json::parse(json_stalls(result({}, {GroupKey::order}), {}));
  const test::DocumentedKeys keys("stalls-json.md");
  EXPECT_EQ(keys(json),
            "schema complete trace recorded memory_recorded total some_ns uncertain_stalls unfinished_waits counts "
            "kernel_counters kinds processes cgroups call_sites orders gfp_flags by groups over_time durations longest "
            "background scans findings ");
  keys(json["groups"][0]);
  keys(json["over_time"]);
  EXPECT_EQ(keys(json["counts"]), "direct_reclaims compaction_requests compactions failed_compactions oom_victims ");
  for (const char* const table : {"kinds", "processes", "durations", "longest", "background", "scans"}) {
    ASSERT_FALSE(json[table].empty()) << table;
    keys(json[table][0]);
  }
  keys(json["longest"][0]["memory"]);
  keys(json["total"]["own_ns"]);
}

}  // namespace
}  // namespace kmt
