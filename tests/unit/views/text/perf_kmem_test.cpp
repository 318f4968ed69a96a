// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/perf_kmem.hpp"

#include <gtest/gtest.h>

#include "support/sample_report.hpp"

namespace kmt {
namespace {

const std::string kRule = std::string(105, '-') + "\n";

GroupRow pages_of(std::uint64_t caller, std::uint64_t order, const char* type, std::uint64_t frame,
                  std::uint64_t allocations, std::uint64_t live) {
  GroupRow row;
  row.allocator = Allocator::pages;
  row.keys = {MemoryAddress{frame}, CodeAddress{caller, caller == 0 ? "unknown" : "reader+0x20 [a_module]"}, order,
              NamedNumber{9, type}, NamedNumber{0xcc0, "GFP_KERNEL"}};
  row.allocations = allocations;
  row.bytes_allocated = (allocations << order) * 4096;
  row.live_allocations = live;
  row.live_bytes = (live << order) * 4096;
  return row;
}

ReportResult with_pages() {
  ReportResult result = test::sample_report();
  result.by = {GroupKey::address, GroupKey::caller, GroupKey::order, GroupKey::migrate_type, GroupKey::gfp};
  result.groups = {{Allocator::pages,
                    {pages_of(0x5000, 0, "Movable", 77, 12, 3), pages_of(0x5000, 0, "Movable", 78, 8, 0),
                     pages_of(0, 3, "HighAtomic", 80, 2, 0)}}};
  result.pages.matched_frees = 19;
  result.pages.live_allocations = 3;
  return result;
}

TEST(TextPerfKmem, PrintsCallSitesByFragmentation) {
  PerfKmemOptions options;
  options.callers = 0;
  EXPECT_EQ(
      text_perf_kmem(test::sample_report(), options),
      kRule +
          " Callsite                           | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n" +
          kRule +
          " third+1                            |       128/128   |       100/100   |        1 |         0 | 21.875%\n"
          " first+10                           |      6400/64    |      6000/60    |      100 |         7 |  6.250%\n"
          " second_function_with_a_rather_long_name+1f4 |     40960/4096  |     40960/4096  |       10 |         0 |"
          "  0.000%\n" +
          kRule +
          "\nSUMMARY (SLAB allocator)\n========================\n"
          "Total bytes requested: 47060\nTotal bytes allocated: 47488\nTotal bytes freed:     43520\n"
          "Net total bytes allocated: 3968\nTotal bytes wasted on internal fragmentation: 428\n"
          "Internal fragmentation: 0.901280%\nCross CPU allocations: unknown/111\n");
}

TEST(TextPerfKmem, CutsSortsAndShowsAddresses) {
  PerfKmemOptions options;
  options.callers = 1;
  options.raw_ip = true;
  options.sort = find_group_column("hits");
  const std::string text = text_perf_kmem(test::sample_report(), options);
  EXPECT_NE(text.find(kRule + " 0x1000                             |      6400/64 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n ...                                | ...             | ...             | ...      | ..."
                      "       | ...   \n" +
                      kRule),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("0x2000"), std::string::npos);
}

TEST(TextPerfKmem, EqualRowsAreSortedByAddress) {
  ReportResult result = test::sample_report();
  result.groups[0].rows = {test::site(0x3000, "b+0x1", 1, 10, 16), test::site(0x1000, "c+0x1", 1, 10, 16),
                           test::site(0x2000, "a+0x1", 1, 10, 16)};
  PerfKmemOptions options;
  options.callers = 0;
  const std::string text = text_perf_kmem(result, options);
  EXPECT_LT(text.find(" c+1 "), text.find(" a+1 ")) << text;
  EXPECT_LT(text.find(" a+1 "), text.find(" b+1 ")) << text;
}

TEST(TextPerfKmem, AddsUpGroupsOfOtherKeys) {
  ReportResult result = test::sample_report();
  result.by = {GroupKey::call_site, GroupKey::address};
  GroupTable& slab = result.groups[0];
  slab.rows = {test::site(0x1000, "one+0x1", 1, 10, 16), test::site(0x1000, "one+0x1", 2, 20, 32),
               test::site(0x2000, "two+0x1", 1, 10, 16)};
  slab.rows[0].keys.emplace_back(MemoryAddress{0xa0});
  slab.rows[1].keys.emplace_back(MemoryAddress{0xb0});
  slab.rows[2].keys.emplace_back(MemoryAddress{0xb0});
  PerfKmemOptions options;
  options.callers = options.addresses = 0;
  const std::string text = text_perf_kmem(result, options);
  EXPECT_NE(text.find(" one+1                              |        48/16    |        30/10    |        3 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" 0xb0                               |        48/16    |        30/10    |        3 |"),
            std::string::npos)
      << text;
  EXPECT_EQ(perf_kmem_keys(options), result.by);
}

TEST(TextPerfKmem, PrintsPages) {
  PerfKmemOptions options;
  options.slab = false;
  options.pages = true;
  options.callers = options.addresses = 0;
  const std::string text = text_perf_kmem(with_pages(), options);
  EXPECT_EQ(text.substr(0, text.find("\n    1 ") + 1),
            "#\n# GFP flags\n# ---------\n# 00000cc0: cc0: GFP_KERNEL\n\n" + kRule +
                " Total alloc (KB) | Hits      | Order | Mig.type | GFP flags | Callsite\n" + kRule +
                "               80 |        20 |     0 |  MOVABLE | cc0       | reader+20\n"
                "               64 |         2 |     3 | RESERVED | cc0       | unknown\n" +
                kRule + "\n" + kRule +
                " PFN              | Total alloc (KB) | Hits      | Order | Mig.type | GFP flags | Callsite\n" + kRule +
                "               80 |               64 |         2 |     3 | RESERVED | cc0       | unknown\n"
                "               77 |               48 |        12 |     0 |  MOVABLE | cc0       | reader+20\n"
                "               78 |               32 |         8 |     0 |  MOVABLE | cc0       | reader+20\n" +
                kRule +
                "\nSUMMARY (page allocator)\n========================\n"
                "Total allocation requests     :               23   [              148 KB ]\n"
                "Total free requests           :               17   [              124 KB ]\n\n"
                "Total alloc+freed requests    :               19   [                0 KB ]\n"
                "Total alloc-only requests     :                3   [               20 KB ]\n"
                "Total free-only requests      :                0   [              124 KB ]\n\n"
                "Total allocation failures     :                1   [                4 KB ]\n\n"
                "Order     Unmovable   Reclaimable       Movable      Reserved  CMA/Isolated\n"
                "-----  ------------  ------------  ------------  ------------  ------------\n"
                "    0             .             .            20             .             .\n");
}

TEST(TextPerfKmem, ShowsOnlyLiveObjects) {
  PerfKmemOptions options;
  options.slab = false;
  options.pages = options.live = true;
  options.callers = 0;
  const std::string text = text_perf_kmem(with_pages(), options);
  EXPECT_NE(text.find("  Live alloc (KB) |"), std::string::npos) << text;
  EXPECT_NE(text.find("               12 |         3 |     0 |  MOVABLE | cc0       | reader+20\n" + kRule),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    0             .             .             3 "), std::string::npos) << text;
}

TEST(TextPerfKmem, DropsNoMigrateTypeAndNoOrder) {
  ReportResult result = with_pages();
  result.groups[0].rows.push_back(pages_of(0, 12, "type 9", 4096, 1, 1));
  PerfKmemOptions options;
  options.slab = false;
  options.pages = true;
  const std::string text = text_perf_kmem(result, options);
  EXPECT_NE(text.find("  CMA/Isolated       Unknown\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n   12             .             .             .             .             .             1\n"),
            std::string::npos)
      << text;
}

TEST(TextPerfKmem, StatesThatNothingWasRecorded) {
  PerfKmemOptions options;
  options.pages = true;
  EXPECT_EQ(text_perf_kmem({}, options),
            "No slab allocation events found (kmalloc, kfree, kmem_cache_alloc, kmem_cache_free).\n"
            "No page allocation events found (mm_page_alloc, mm_page_free).\n");
}

TEST(TextPerfKmem, WarnsOfLosses) {
  ReportResult result = test::sample_report();
  EXPECT_EQ(perf_kmem_warnings(result), "");
  result.trace.lost_events = 30;
  result.trace.complete = false;
  EXPECT_EQ(perf_kmem_warnings(result),
            "warning: reading was interrupted, and the rest of the trace is not counted\n"
            "warning: 30 events were lost, so all totals are too small\n");
}

}  // namespace
}  // namespace kmt
