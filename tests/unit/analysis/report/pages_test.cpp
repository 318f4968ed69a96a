// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the rules of `pages` and its output with hand-made events. tests/oracle uses real traces.
#include "analysis/report/pages.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/report/check.hpp"
#include "analysis/report/report.hpp"
#include "base/text.hpp"
#include "support/documented_keys.hpp"
#include "trace/kernel_release.hpp"
#include "views/json/pages.hpp"
#include "views/text/pages.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return std::to_string(address); }
};

class Pages : public testing::Test {
 protected:
  Pages() {
    info.machine.page_size = 4096;
    info.machine.kernel = "6.1.0";
    info.machine.arch = "x86_64";
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0};
    info.tasks.comms = {{7, "worker"}, {8, "other"}};
  }

  Event& add(EventKind kind, std::uint64_t frame, unsigned order = 0, std::int32_t tid = 7, unsigned cpu = 0) {
    Event event{};
    event.kind = kind;
    event.address = frame;
    event.order = static_cast<std::uint8_t>(order);
    event.tid = tid;
    event.cpu = static_cast<std::uint16_t>(cpu);
    event.time_ns = 100 * (events.size() + 1);
    events.push_back(event);
    return events.back();
  }
  Event& add_fallback(unsigned order, bool changed = false) {
    Event& event = add(EventKind::page_alloc_extfrag, 64);
    event.fallback_order = static_cast<std::uint8_t>(order);
    event.migrate_type = 2;
    event.page_flags =
        static_cast<std::uint8_t>(1u << PageFlags::kFallbackTypeShift | (changed ? PageFlags::kOwnershipChanged : 0u));
    return event;
  }

  PagesResult result(ReportFilter filter = {}) {
    PagesAnalysis analysis(info, info.tasks, no_names, std::move(filter));
    analysis.add(events);
    return analysis.finish();
  }
  static const PageTaskRow& task(const PagesResult& result, std::string_view name) {
    static const PageTaskRow kNone;
    for (const PageTaskRow& row : result.tasks)
      if (row.task == name) return row;
    ADD_FAILURE() << "no " << name;
    return kNone;
  }

  TraceInfo info;
  NoNames no_names;
  EventBatch events;
};

// alloc_pages_bulk() fills the empty elements of an array. Its record also lists pages that the array had before.
TEST_F(Pages, AListedPageThatIsLiveIsNoAllocation) {
  add(EventKind::page_alloc, 64, 1);
  for (const std::uint64_t frame : {65u, 70u}) add(EventKind::page_alloc, frame).page_flags = BulkFlags::kMayBeLive;
  add(EventKind::page_free, 70);
  add(EventKind::page_alloc, 70).page_flags = BulkFlags::kMayBeLive;
  const PageTaskRow row = task(result(), "worker-7");
  EXPECT_EQ(row.allocated.events, 3u);
  EXPECT_EQ(row.allocated.pages, 4u);
  ReportAnalysis analysis(info, no_names, {{}, {GroupKey::call_site}, {}});
  analysis.add(events);
  const ReportResult report = analysis.finish();
  EXPECT_EQ(report.pages.allocations, 3u);
  EXPECT_EQ(report.pages.live_bytes, 3 * 4096u);
}

TEST_F(Pages, ThePagesOfTheRecorderAreNotFreedTwice) {
  for (const std::int32_t tid : {7, 8, 8, 7}) add(EventKind::page_free, 64, 2, tid);
  for (const char* const recorder : {"", "8"}) {
    info.recording.notes["recorder_tasks"] = recorder;
    CheckAnalysis check(info);
    check.add(events);
    EXPECT_EQ(check.finish().findings.count_of(Imperfection::pages_freed_twice), *recorder == 0 ? 3u : 1u);
    ReportAnalysis analysis(info, no_names, {{}, {GroupKey::call_site}, {}});
    analysis.add(events);
    for (const auto& [kind, count] : analysis.finish().anomalies)
      if (kind == "pages_freed_twice") {
        EXPECT_EQ(count, *recorder == 0 ? 3u : 1u);
      }
  }
}

TEST_F(Pages, EventsAndPagesAreCounted) {
  add(EventKind::page_alloc, 64, 3);
  add(EventKind::page_alloc, kNoPage, 2);
  add(EventKind::page_free, 64, 1);
  add(EventKind::page_free_batched, 64);
  add(EventKind::page_alloc_zone_locked, 128, 1).page_flags = PageFlags::kPercpuRefill;
  add(EventKind::page_alloc_zone_locked, 256, 4);
  add(EventKind::page_alloc_zone_locked, kNoPage, 4).page_flags = PageFlags::kPercpuRefill;
  add(EventKind::page_pcpu_drain, 512, 2);
  add(EventKind::kmalloc, 1);
  const PagesResult got = result();
  const PageTaskRow& row = task(got, "worker-7");
  EXPECT_EQ(row.allocated.events, 1u);
  EXPECT_EQ(row.allocated.pages, 8u);
  EXPECT_EQ(row.failed.events, 1u);
  EXPECT_EQ(row.failed.pages, 4u);
  EXPECT_EQ(row.freed.pages, 2u);
  EXPECT_EQ(row.freed_batched.pages, 1u);
  EXPECT_EQ(row.zone_locked.events, 3u);
  EXPECT_EQ(row.zone_locked.pages, 18u);
  EXPECT_EQ(row.refilled.events, 1u);
  EXPECT_EQ(row.refilled.pages, 2u);
  EXPECT_EQ(row.drained.pages, 4u);
  EXPECT_EQ(row.live_pages, 6u);
  EXPECT_EQ(got.trace.events, 8u);
  EXPECT_EQ(got.total.live_pages, 6u);
}

TEST_F(Pages, ARunEndsWithTheTasksNextPageEventOfAnotherKind) {
  add(EventKind::page_pcpu_drain, 1);
  add(EventKind::page_alloc, 2, 0, 8);          // another task
  add(EventKind::page_pcpu_drain, 3, 0, 7, 1);  // the task continues on another CPU
  add(EventKind::kmalloc, 4);                   // this is not an event of the page allocator
  add(EventKind::page_pcpu_drain, 5).context = Context::kSoftIrq;
  add(EventKind::page_pcpu_drain, 6);
  EXPECT_EQ(task(result(), "worker-7").drain_runs, 1u);
  EXPECT_EQ(task(result(), "[softirq]").drain_runs, 1u);
  add_fallback(3);
  add(EventKind::page_pcpu_drain, 7);
  add(EventKind::page_alloc_zone_locked, 8);
  add(EventKind::page_alloc_zone_locked, 9);
  add(EventKind::page_pcpu_drain, 10);
  EXPECT_EQ(task(result(), "worker-7").drain_runs, 3u);
  EXPECT_EQ(task(result(), "worker-7").refill_runs, 1u);
}

TEST_F(Pages, IdleTasksAndInterruptsHaveRunsOnEachCpu) {
  for (unsigned cpu : {0u, 1u, 0u, 1u}) {
    add(EventKind::page_pcpu_drain, 1, 0, 0, cpu);
    add(EventKind::page_alloc_zone_locked, 1, 0, 7, cpu).context = Context::kHardIrq;
  }
  EXPECT_EQ(task(result(), "<idle>-0").drain_runs, 2u);
  EXPECT_EQ(task(result(), "[hardirq]").refill_runs, 2u);
}

TEST_F(Pages, AFilterIsAppliedBeforeRuns) {
  add(EventKind::page_pcpu_drain, 1);
  add(EventKind::page_alloc, 2, 0, 7, 1);
  add(EventKind::page_pcpu_drain, 3);
  add(EventKind::page_free, 2);
  EXPECT_EQ(result().total.drain_runs, 2u);
  ReportFilter filter;
  filter.cpus = {0};
  EXPECT_EQ(result(filter).total.drain_runs, 1u);
  EXPECT_EQ(result(filter).total.freed.events, 1u);
  filter.cpus = {1};
  EXPECT_EQ(result(filter).total.live_pages, 0u);  // the free counts although it is on CPU 0
}

TEST_F(Pages, FallbacksAreSevereUpToOrderThree) {
  for (unsigned order : {0u, 3u, 4u, 8u, 9u, 10u}) add_fallback(order, order >= 8);
  info.machine.cpu_nodes = {0, 1, 0, kNoNode};
  PagesResult got = result();
  const PageTaskRow& row = got.total;
  EXPECT_EQ(row.fallbacks.events, 6u);
  EXPECT_EQ(row.fragmenting.events, 4u);
  EXPECT_EQ(row.severe.events, 2u);
  EXPECT_EQ(row.severe.pages, 1u + 8u);
  EXPECT_EQ(row.moderate.events, 2u);
  EXPECT_EQ(row.moderate.pages, 16u + 256u);
  EXPECT_EQ(row.ownership_changed.events, 3u);
  EXPECT_TRUE(got.pageblock_order_assumed);
  EXPECT_EQ(got.min_free_kbytes_step, 3 * 2048 * 2u);
  ASSERT_EQ(got.fallbacks.size(), 1u);
  EXPECT_EQ(got.fallbacks[0].migrate_type_name, "Reclaimable");
  EXPECT_EQ(got.fallbacks[0].from_name, "Movable");
  EXPECT_EQ(got.fallbacks[0].severe.events, 2u);

  info.machine.pageblock_order = 8;
  got = result();
  EXPECT_EQ(got.total.fragmenting.events, 3u);
  EXPECT_FALSE(got.pageblock_order_assumed);
  EXPECT_EQ(got.min_free_kbytes_step, 3 * 1024 * 2u);
  events.erase(events.begin(), events.begin() + 2);
  EXPECT_EQ(result().min_free_kbytes_step, std::nullopt);
}

TEST_F(Pages, TheDefaultPageBlockDependsOnTheArchitecture) {
  const auto order = [&](const char* arch, std::uint64_t page_size) {
    info.machine.arch = arch;
    info.machine.page_size = page_size;
    return result().pageblock_order;
  };
  EXPECT_EQ(order("x86_64", 4096), 9u);
  EXPECT_EQ(order("s390x", 4096), 8u);
  EXPECT_EQ(order("aarch64", 4096), 9u);
  EXPECT_EQ(order("aarch64", 16384), 11u);
  EXPECT_EQ(order("aarch64", 65536), 13u);
  EXPECT_EQ(order("i686", 4096), 9u);
  EXPECT_EQ(order("x86_64", 0), 9u);
}

TEST_F(Pages, GuessedPageBlocksGiveNoAdvice) {
  add_fallback(0, false);
  info.machine.arch = "x86_64";
  EXPECT_EQ(result().min_free_kbytes_step, 3 * 2048u);
  info.machine.arch = "i686";  // the trace lacks the order; i686 may have pageblocks of 2 or 4 MiB
  EXPECT_EQ(result().min_free_kbytes_step, std::nullopt);
  info.machine.pageblock_order = 10;
  EXPECT_EQ(result().min_free_kbytes_step, 3 * 4096u);
}

TEST_F(Pages, LivePagesBelongToTheAllocatingTask) {
  add(EventKind::page_alloc, 64, 2).migrate_type = 1;
  add(EventKind::page_alloc, 128, 0, 8);
  add(EventKind::page_free, 65, 0, 8);
  add(EventKind::page_alloc, 128, 0, 7).migrate_type = 1;  // the event that freed the earlier block was lost
  const PagesResult got = result();
  EXPECT_EQ(task(got, "worker-7").live_pages, 4u);
  EXPECT_EQ(task(got, "other-8").live_pages, 0u);
  ASSERT_EQ(got.types.size(), 3u);
  EXPECT_EQ(got.types[0].migrate_type_name, "Unmovable");
  EXPECT_EQ(got.types[0].live_bytes, 0u);
  EXPECT_EQ(got.types[1].live_bytes, 4096u);
  EXPECT_EQ(got.types[2].order, 2u);
  EXPECT_EQ(got.types[2].bytes_allocated, 4 * 4096u);
  EXPECT_EQ(got.types[2].live_bytes, 3 * 4096u);
}

TEST_F(Pages, ARenamedTaskHasTwoRows) {
  info.tasks.names.called_before(7, 150, "first");
  info.tasks.names.called_since(7, 150, "second");
  add(EventKind::page_alloc, 1);
  add(EventKind::page_alloc, kNoPage);
  add(EventKind::page_free, 1);
  const PagesResult got = result();
  EXPECT_EQ(task(got, "first-7").allocated.events, 1u);
  EXPECT_EQ(task(got, "second-7").freed.events, 1u);
  ASSERT_EQ(got.failures.size(), 1u);
  EXPECT_EQ(got.failures[0].task, "second-7");
}

// Other events of a task may precede the event that contains the task's name.
TEST_F(Pages, ALaterNameCounts) {
  add(EventKind::page_alloc, 1);
  PagesAnalysis analysis(info, info.tasks, no_names, {});
  analysis.add(events);
  info.tasks.names.called_before(7, 150, "first");
  info.tasks.names.called_since(7, 150, "second");
  events.clear();
  add(EventKind::page_alloc, 2).time_ns = 200;
  add(EventKind::page_alloc, 3).time_ns = 201;
  analysis.add(events);
  const PagesResult got = analysis.finish();
  ASSERT_EQ(got.tasks.size(), 2u);
  EXPECT_EQ(task(got, "first-7").allocated.events, 1u);
  EXPECT_EQ(task(got, "second-7").allocated.events, 2u);
}

TEST_F(Pages, FailuresAreGroupedByRequest) {
  for (int i = 0; i < 3; ++i) add(EventKind::page_alloc, kNoPage, 4).gfp_flags = 0xcc0;
  add(EventKind::page_alloc, kNoPage, 4, 8).gfp_flags = 0xcc0;
  add(EventKind::page_alloc, kNoPage, 3).gfp_flags = 0xcc0;
  const PagesResult got = result();
  ASSERT_EQ(got.failures.size(), 3u);
  EXPECT_EQ(got.failures[0].task, "worker-7");
  EXPECT_EQ(got.failures[0].order, 4u);
  EXPECT_EQ(got.failures[0].count, 3u);
  EXPECT_EQ(got.failures[0].first_ns, 100u);
  EXPECT_EQ(got.failures[0].last_ns, 300u);
}

TEST_F(Pages, ImpossibleOrdersDoNotCount) {
  add(EventKind::page_alloc, 1, 200);
  add(EventKind::page_pcpu_drain, 1, 21);
  add_fallback(255);
  add(EventKind::page_alloc, 1).migrate_type = -1;
  const PagesResult got = result();
  EXPECT_EQ(got.trace.events, 1u);
  ASSERT_EQ(got.anomalies.size(), 1u);
  EXPECT_EQ(got.anomalies[0].second, 3u);
  ASSERT_EQ(got.types.size(), 1u);
  EXPECT_EQ(got.types[0].migrate_type_name, "type -1");
}

TEST_F(Pages, TextFitsTheWidth) {
  info.tasks.comms[7] = std::string(60, 'x') + "\x1b[31m";
  add(EventKind::page_alloc, 64, 3);
  add(EventKind::page_alloc, kNoPage, 2).gfp_flags = 0xcc0;
  for (unsigned order : {0u, 5u}) add_fallback(order);
  for (int tid = 100; tid < 130; ++tid) add(EventKind::page_alloc, 128, 0, tid);
  const PagesResult got = result();
  for (const unsigned width : {60u, 80u, 120u})
    for (const auto& column : page_task_columns()) {
      PagesOptions options;
      options.sort = &column;
      const std::string text = text_pages(got, options, {width, false, false});
      for (const std::string_view line : split(text, '\n')) {
        std::size_t columns = 0;
        for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
        EXPECT_LE(columns, width) << line;
      }
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
  const std::string text = text_pages(got, {}, {120, false, false});
  for (const char* const part : {"raise vm.min_free_kbytes by 6144", "(order 9", "assumed because", "(11 more)",
                                 "Failed page allocations", "Reclaimable", "0xcc0"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  events.clear();
  EXPECT_NE(text_pages(result(), {}, {120, false, false}).find("no events of the page allocator"), std::string::npos);
}

TEST_F(Pages, JsonHasTheDocumentedKeysInTheirOrder) {
  add(EventKind::page_alloc, 64);
  add(EventKind::page_alloc, kNoPage);
  add_fallback(1);
  add(EventKind::page_free, 64).context = Context::kNmi;
  const auto json = nlohmann::ordered_json::parse(json_pages(result(), {}));
  const test::DocumentedKeys keys("pages-json.md");
  EXPECT_EQ(keys(json),
            "schema complete trace total fragmentation tasks_total tasks types fallback_types failures_total failures "
            "anomalies findings ");
  const std::string fallbacks = "fallbacks fragmenting severe moderate ownership_changed ";
  const std::string counts =
      "allocated failed zone_locked refilled pcpu_refills freed freed_batched drained pcpu_drains " + fallbacks +
      "live_pages ";
  EXPECT_EQ(keys(json["total"]), counts);
  EXPECT_EQ(keys(json["fragmentation"]), "pageblock_order pageblock_order_from nodes min_free_kbytes_step ");
  EXPECT_EQ(keys(json["tasks"][0]), "task comm tid " + counts);
  EXPECT_EQ(keys(json["tasks"][0]["allocated"]), "events pages ");
  EXPECT_TRUE(json["tasks"][1]["tid"].is_null());
  EXPECT_EQ(keys(json["types"][0]),
            "order migrate_type migrate_type_name allocations failed_allocations bytes_allocated live_bytes ");
  EXPECT_EQ(keys(json["fallback_types"][0]),
            "migrate_type migrate_type_name from_migrate_type from_migrate_type_name " + fallbacks);
  EXPECT_EQ(keys(json["failures"][0]),
            "task order gfp_flags gfp_names migrate_type migrate_type_name count first_ns last_ns ");
}

TEST(GfpText, IsWhatTheKernelPrints) {
  const std::vector<FlagName> names = {{0xC40, "GFP_NOFS"}, {0x40, "__GFP_IO"}, {0, "nothing"}, {0x100, "__GFP_ZERO"}};
  EXPECT_EQ(gfp_text(names, 0xD40), "GFP_NOFS|__GFP_ZERO");
  EXPECT_EQ(gfp_text(names, 0x40), "__GFP_IO");
  EXPECT_EQ(gfp_text(names, 0x3100), "__GFP_ZERO|0x3000");
  EXPECT_EQ(gfp_text(names, 0), "none");
  EXPECT_EQ(gfp_text({}, 0x40), "");
}

TEST(MigrateType, NameDependsOnTheKernelVersion) {
  EXPECT_EQ(migrate_type_name(1, "6.1.0-47-amd64"), "Movable");
  EXPECT_EQ(migrate_type_name(1, "4.3.6"), "Reclaimable");
  EXPECT_EQ(migrate_type_name(3, "2.6.32"), "Reserve");
  EXPECT_EQ(migrate_type_name(3, "4.4"), "HighAtomic");
  EXPECT_EQ(migrate_type_name(3, ""), "HighAtomic");
  EXPECT_EQ(migrate_type_name(5, "6.1"), "Isolate");
  EXPECT_EQ(migrate_type_name(6, "6.1"), "type 6");
  EXPECT_EQ(migrate_type_name(-1, "6.1"), "type -1");
}

}  // namespace
}  // namespace kmt
