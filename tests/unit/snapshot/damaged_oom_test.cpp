// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading reports of OOM kills that are cut off, wrapped or mixed. Numbers that such a report lacks are unknown.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parse.hpp"
#include "trace/state/sample.hpp"

namespace kmt {
namespace {

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

SnapshotResult stock_of(const OomReport& report) { return take_stock(parse_snapshot(sample_of(report), 0)); }

std::optional<std::int64_t> line_of(const SnapshotResult& result, std::string_view id) {
  const auto line = std::ranges::find(result.sheet, id, &BalanceLine::id);
  return line == result.sheet.end() || !line->known ? std::nullopt : std::optional(line->bytes);
}

bool notes(const OomReport& report, std::string_view words) {
  return text_of(sample_of(report), "missing").find(words) != std::string_view::npos;
}

constexpr const char* kBegin =
    "Mem-Info:\nactive_anon:2000 inactive_anon:100 isolated_anon:0\n active_file:10 inactive_file:20 isolated_file:0\n"
    " unevictable:0 dirty:0 writeback:0\n slab_reclaimable:50 slab_unreclaimable:60\n mapped:5 shmem:4 pagetables:7\n"
    " sec_pagetables:0 bounce:0\n kernel_misc_reclaimable:0\n free:6000 free_pcp:30 free_cma:0\n"
    "Node 0 active_anon:4000kB inactive_anon:200kB kernel_stack:160kB all_unreclaimable? no\n"
    "Node 1 active_anon:4000kB inactive_anon:200kB kernel_stack:320kB all_unreclaimable? no\n";
constexpr const char* kFirstZone = "Node 0 DMA free:8000kB min:4kB present:15992kB managed:15360kB free_pcp:20kB\n";
constexpr const char* kSecondZone =
    "Node 1 Normal free:16000kB min:4kB present:65536kB managed:64000kB free_pcp:100kB\n";
constexpr const char* kEnd = "34 total pagecache pages\n20382 pages RAM\n542 pages reserved\n";

OomReport only_report(const std::string& log) {
  auto reports = oom_reports(log);
  EXPECT_EQ(reports.size(), 1u);
  return reports.empty() ? OomReport() : std::move(reports.front());
}

// A machine with pages of 64 KiB. Lines of zones are in kB, and those of the machine in pages.
TEST(CutReports, PageSizeIsKnownWithoutFreeBlocks) {
  const char* const log =
      "Mem-Info:\nactive_anon:1900000 inactive_anon:50000 isolated_anon:0\n active_file:10 inactive_file:20\n"
      " free:22000 free_pcp:90 free_cma:0\n"
      "Node 0 active_anon:121600000kB inactive_anon:3200000kB active_file:640kB inactive_file:1280kB\n"
      "2093056 pages RAM\n7118 pages reserved\n";
  EXPECT_EQ(only_report(log).page_size, 65536u);
  EXPECT_EQ(total_bytes_of(only_report(log)), (2093056ull - 7118) << 16);
  EXPECT_EQ(only_report(std::string(kBegin) + kFirstZone).page_size, 4096u);
  // sparc64 has pages of 8 KiB. The page size is the quotient of an amount in kB and the same amount in pages. If the
  // amounts are small, the quotient must be exact.
  const std::string few =
      "Mem-Info:\nactive_anon:0 inactive_anon:0 isolated_anon:0\n active_file:23 inactive_file:30\n free:31098\n";
  EXPECT_EQ(
      only_report(few + "Node 0 active_anon:0kB inactive_anon:0kB active_file:184kB inactive_file:240kB\n").page_size,
      8192u);
  EXPECT_EQ(only_report(few + "Node 0 Normal free:248900kB min:4kB\n").page_size, 8192u);
}

TEST(CutReports, TheSumOfSomeZonesIsNotTheTotal) {
  const OomReport report = only_report(std::string(kBegin) + kFirstZone);
  EXPECT_FALSE(total_bytes_of(report));
  EXPECT_TRUE(notes(report, "The total of memory is unknown"));
  EXPECT_TRUE(notes(report, "only some zones"));
  const SnapshotResult found = stock_of(report);
  EXPECT_EQ(found.total, 0u);
  EXPECT_FALSE(line_of(found, "unaccounted"));
  EXPECT_EQ(line_of(found, "free.buddy"), 6000 * 4096);
  EXPECT_EQ(line_of(found, "free.cpu-lists"), 30 * 4096);
  EXPECT_EQ(line_of(found, "kernel-stacks"), 480 * 1024);
  EXPECT_FALSE(line_of(found, "others.corrupted"));
  EXPECT_TRUE(std::ranges::none_of(found.sheet, &BalanceLine::is_contradiction));
}

// A missing zone may have few free pages. The listed zones then have fewer active pages than the machine.
TEST(CutReports, AZoneWithoutFreePagesMayBeMissing) {
  const std::string log =
      "Mem-Info:\nactive_anon:90000 inactive_anon:100 isolated_anon:0\n active_file:10 inactive_file:20\n free:2100\n"
      "Node 0 DMA free:8000kB min:4kB active_anon:4000kB inactive_anon:400kB active_file:40kB inactive_file:80kB "
      "present:15992kB managed:15360kB\n";
  EXPECT_FALSE(total_bytes_of(only_report(log)));
  EXPECT_TRUE(notes(only_report(log), "only some zones"));
  const std::string other =
      "Node 0 Normal free:400kB min:4kB active_anon:356000kB inactive_anon:0kB active_file:0kB inactive_file:0kB "
      "present:655360kB managed:640000kB\n";
  EXPECT_EQ(total_bytes_of(only_report(log + other)), (15360u + 640000u) * 1024);
}

// If a missing node has no active pages, only the inactive pages show that it is missing.
TEST(CutReports, ANodeWithoutActivePagesMayBeMissing) {
  const std::string log =
      "Mem-Info:\nactive_anon:100 inactive_anon:90000 isolated_anon:0\n active_file:10 inactive_file:20\n free:2100\n"
      "Node 0 active_anon:400kB inactive_anon:4000kB active_file:40kB inactive_file:80kB kernel_stack:160kB\n";
  const std::string other =
      "Node 1 active_anon:0kB inactive_anon:356000kB active_file:0kB inactive_file:0kB kernel_stack:320kB\n";
  EXPECT_FALSE(line_of(stock_of(only_report(log)), "kernel-stacks"));
  EXPECT_EQ(line_of(stock_of(only_report(log + other)), "kernel-stacks"), 480 * 1024);
}

TEST(CutReports, AnAssumedPageSizeIsNoted) {
  const std::string head = "Mem-Info:\nactive_anon:2000 inactive_anon:100\n free:6000 free_pcp:30\n";
  EXPECT_TRUE(notes(only_report(head), "4 KiB is assumed"));
  EXPECT_FALSE(notes(only_report(head + "Node 0 active_anon:8000kB inactive_anon:400kB\n"), "4 KiB is assumed"));
}

// Locked shared memory is on the list of unevictable pages.
TEST(CutReports, LockedSharedMemoryCountsOnce) {
  const std::string log =
      "Mem-Info:\nactive_anon:100 inactive_anon:200 isolated_anon:0\n active_file:10 inactive_file:20 isolated_file:0\n"
      " unevictable:7000 dirty:0\n slab_reclaimable:50 slab_unreclaimable:60\n mapped:5 shmem:6500 pagetables:7\n"
      " free:6000 free_pcp:30 free_cma:0\n";
  const SnapshotResult found = stock_of(only_report(log));
  EXPECT_EQ(line_of(found, "user"), (100 + 200 + 10 + 20 + 7000) * 4096);
  EXPECT_EQ(line_of(found, "user.lists"), 7300 * 4096);
  EXPECT_EQ(line_of(found, "user.shmem"), 6500 * 4096);
}

TEST(CutReports, CompressedSwapIsCounted) {
  const std::string zones =
      std::string(kFirstZone).insert(std::string(kFirstZone).find(" present:"), " zspages:0kB") +
      std::string(kSecondZone).insert(std::string(kSecondZone).find(" present:"), " zspages:4096kB");
  EXPECT_EQ(line_of(stock_of(only_report(kBegin + zones + kEnd)), "others.zsmalloc"), 4096 * 1024);
  EXPECT_FALSE(
      line_of(stock_of(only_report(std::string(kBegin) + kFirstZone + kSecondZone + kEnd)), "others.zsmalloc"));
}

// If no report is complete, a report with a zone is preferred to a later one that has fewer numbers.
TEST(CutReports, AReportWithAZoneIsUsed) {
  const std::string log = "x invoked oom-killer: order=0\nMem-Info:\n" + std::string(kFirstZone) +
                          "y invoked oom-killer: order=0\nMem-Info:\nactive_anon:2 inactive_anon:1\n";
  const Copies copies = copies_in_file("log", bytes_of(log));
  ASSERT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(parse_snapshot(copies.reports[0], 0).zones.size(), 1u);
}

TEST(CutReports, TheSumOfAllZonesIsTheTotal) {
  const OomReport report = only_report(std::string(kBegin) + kFirstZone + kSecondZone);
  EXPECT_EQ(total_bytes_of(report), (15360u + 64000u) * 1024);
  EXPECT_TRUE(notes(report, "the sum of its zones"));
  EXPECT_TRUE(stock_of(report).memory.oom->has_total_of_zones);
  const OomReport whole = only_report(std::string(kBegin) + kFirstZone + kSecondZone + kEnd);
  EXPECT_EQ(total_bytes_of(whole), 19840u * 4096);
  EXPECT_FALSE(notes(whole, "log\t"));
  EXPECT_FALSE(stock_of(whole).memory.oom->has_total_of_zones);
}

// The lines of the zones and " free:" are lost, so only the number of all CMA pages is known.
TEST(CutReports, UsedPagesOfCmaAreasAreUnknownWithoutTheFreeOnes) {
  const std::string end = std::string(kEnd) + "80 pages cma reserved\n";
  const SnapshotResult whole = stock_of(only_report(std::string(kBegin) + kFirstZone + kSecondZone + end));
  EXPECT_EQ(line_of(whole, "unaccounted.cma"), 80 * 4096);
  const std::string begin(kBegin);
  const SnapshotResult found =
      stock_of(only_report(begin.substr(0, begin.find(" free:")) + begin.substr(begin.find("Node 0")) + end));
  const auto line = std::ranges::find(found.sheet, "unaccounted.cma", &BalanceLine::id);
  ASSERT_NE(line, found.sheet.end());
  EXPECT_FALSE(line->known);
  EXPECT_FALSE(line->counted);
}

// If a part is unknown, the sum of the other parts is a lower limit. A health check can then only find that the sum is
// too large, not that it is fine.
TEST(CutReports, ASumWithAnUnknownPartIsALowerLimit) {
  std::string log = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  const auto cut = [&log](std::string_view line) { log.erase(log.find(line), line.size()); };
  const auto line = [](const SnapshotResult& result, std::string_view id) {
    return *std::ranges::find(result.sheet, id, &BalanceLine::id);
  };
  const auto page_tables = [](const SnapshotResult& result) {
    return std::ranges::find(result.health, HealthTopic::page_tables, &HealthCheck::topic)->health;
  };
  EXPECT_TRUE(line(stock_of(only_report(log)), "page-tables").is_exact());
  EXPECT_EQ(page_tables(stock_of(only_report(log))), Health::ok);
  cut(" mapped:5 shmem:4 pagetables:7\n");
  EXPECT_FALSE(line(stock_of(only_report(log)), "page-tables").known) << "the known part has 0 bytes";
  log.replace(log.find("sec_pagetables:0"), 16, "sec_pagetables:9");
  SnapshotResult found = stock_of(only_report(log));
  EXPECT_TRUE(line(found, "page-tables").at_least);
  EXPECT_EQ(line(found, "page-tables").bytes, 9 * 4096);
  EXPECT_EQ(page_tables(found), Health::unknown);
  EXPECT_TRUE(line(found, "free").is_exact());
  log.replace(log.find("sec_pagetables:9"), 16, "sec_pagetables:17000");
  EXPECT_EQ(page_tables(stock_of(only_report(log))), Health::bad);
}

// Health checks name the memory that may be in "unaccounted".
TEST(CutReports, UnaccountedMemoryNamesUnknownLines) {
  const SnapshotResult found = stock_of(only_report(std::string(kBegin) + kFirstZone + kSecondZone + kEnd));
  const auto check = std::ranges::find(found.health, HealthTopic::unaccounted, &HealthCheck::topic);
  ASSERT_NE(check, found.health.end());
  EXPECT_EQ(check->subject, "with hugetlb, vmalloc, percpu");
}

// If the number of huge pages is lost, unaccounted memory is no reason for a warning: all of it may be huge pages.
TEST(CutReports, UnaccountedMemoryIsNotJudgedWithoutHugePages) {
  const auto judged = [](const std::string& huge) {
    std::string log = std::string(kBegin) + kFirstZone + kSecondZone + huge + kEnd;
    log.replace(log.find("20382 pages RAM"), 15, "2038200 pages RAM");
    const SnapshotResult found = stock_of(only_report(log));
    return std::ranges::find(found.health, HealthTopic::unaccounted, &HealthCheck::topic)->health;
  };
  EXPECT_EQ(judged("Node 0 hugepages_total=0 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB\n"
                   "Node 1 hugepages_total=0 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB\n"),
            Health::bad);
  EXPECT_EQ(judged(""), Health::unknown);
}

// Programs that show logs as web pages or JSON replace line breaks.
TEST(CutReports, LineBreaksOfWebPagesAndJson) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  for (const char* const line_break : {"<br/>\n", "<br>", "<BR />", "\\r\\n", "\\n"}) {
    std::string log = "{\"body\": \"";
    for (const char c : whole) log += c == '\n' ? line_break : std::string(1, c);
    const SnapshotResult found = stock_of(only_report(log + "\"}"));
    EXPECT_EQ(line_of(found, "slab"), 110 * 4096) << line_break;
    EXPECT_EQ(found.total, 19840u * 4096) << line_break;
  }
}

TEST(CutReports, LostMessagesAreReported) {
  const std::string huge = "Node 0 hugepages_total=2 hugepages_free=2 hugepages_surp=0 hugepages_size=2048kB\n";
  const std::string begin = std::string(kBegin) + kFirstZone + kSecondZone + huge;
  for (const char* const lost : {"** 12 printk messages dropped **\n", "** 12 printk messages dropped ** foo: bar\n",
                                 "systemd-journald[1]: Missed 12 kernel messages\n"}) {
    const OomReport report = only_report(begin + lost + kEnd);
    EXPECT_TRUE(notes(report, "lost messages inside the report: 12")) << lost;
    EXPECT_FALSE(line_of(stock_of(report), "hugetlb")) << lost;
    EXPECT_FALSE(notes(only_report(lost + begin + kEnd + lost), "were lost")) << lost;
  }
}

// If a task may allocate only from some nodes, the kernel shows only these nodes.
TEST(CutReports, SumsOverSomeNodesAreUnknown) {
  const std::string huge = "Node 0 hugepages_total=2 hugepages_free=2 hugepages_surp=0 hugepages_size=2048kB\n";
  std::string log = std::string(kBegin) + kFirstZone + huge + kEnd;
  EXPECT_EQ(line_of(stock_of(only_report(std::string(kBegin) + kFirstZone + kSecondZone + huge + kEnd)), "hugetlb"),
            4 << 20);
  log.erase(log.find("Node 1"), log.find("Node 0 DMA") - log.find("Node 1"));
  const SnapshotResult found = stock_of(only_report(log));
  EXPECT_FALSE(line_of(found, "kernel-stacks"));
  EXPECT_FALSE(line_of(found, "hugetlb"));
  EXPECT_EQ(found.total, 19840u * 4096);
}

TEST(CutReports, TheLastReportOfALogMayBeCut) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  const Copies copies = copies_in_file("log", bytes_of(whole + kBegin + kFirstZone));
  ASSERT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.unusable_reports, 1u);
  EXPECT_TRUE(copies.last_is_unusable);
  const Copies cut = copies_in_file("log", bytes_of(std::string(kBegin) + kFirstZone));
  ASSERT_EQ(cut.reports.size(), 1u);
  EXPECT_EQ(cut.unusable_reports, 0u);
  EXPECT_FALSE(cut.last_is_unusable);
}

TEST(CutReports, AListOfFreeBlocksWithoutItsEndIsUnknown) {
  const auto free_blocks = [](const char* line) {
    const SnapshotResult found = stock_of(only_report(std::string(kBegin) + kFirstZone + line + "\n" + kEnd));
    return found.memory.zones.at(0).free.size();
  };
  EXPECT_EQ(free_blocks("Node 0 DMA: 2*4kB (U) 1*8kB 0*16kB 1*32kB (M) = 48kB"), 4u);
  EXPECT_EQ(free_blocks("Node 0 DMA: 2*4kB (U) 1*8kB 0*16kB 1*3>"), 0u);
  EXPECT_EQ(free_blocks("Node 0 DMA: 2*4kB (U) 1*8kB 0*1\n6kB 1*32kB (M) = 48kB"), 4u);
  EXPECT_EQ(free_blocks("Node 0 DMA: 2*4kB (U) 1*8kB 0*1\nfoo\n6kB 1*32kB (M) = 48kB"), 0u);
  const OomReport wrong = only_report(std::string(kBegin) + "Node 0 DMA: 2*4kB (U) 1*8kB = 4096kB\n" + kEnd);
  EXPECT_TRUE(notes(wrong, "does not add up"));
}

// The buffer of the kernel's log is limited, so the first lines of a report may be lost.
TEST(CutReports, TheFirstLinesMayBeLost) {
  const std::string end = std::string(kFirstZone) + kSecondZone + kEnd;
  const OomReport late = only_report(
      "6kB high:20kB present:4kB\n mapped:5 shmem:4 pagetables:7\n"
      " free:6000 free_pcp:30 free_cma:0\n" +
      end);
  EXPECT_TRUE(late.starts_late);
  EXPECT_TRUE(notes(late, "lacks the first lines"));
  SnapshotResult found = stock_of(late);
  EXPECT_EQ(found.total, 19840u * 4096);
  EXPECT_EQ(line_of(found, "free.buddy"), 6000 * 4096);
  EXPECT_EQ(line_of(found, "page-tables.processes"), 7 * 4096);
  EXPECT_EQ(line_of(found, "slab"), std::nullopt);
  EXPECT_EQ(line_of(found, "unaccounted"), std::nullopt) << "slab and user memory are not known";
  // The sums of zones are not shown as totals, because the report may lack zones.
  found = stock_of(only_report(kSecondZone));
  EXPECT_EQ(found.total, 0u);
  EXPECT_EQ(line_of(found, "free"), std::nullopt);
  EXPECT_EQ(found.memory.zones.size(), 1u);
  EXPECT_TRUE(std::ranges::all_of(found.health, [](const auto& check) { return check.health == Health::unknown; }));
  // The end of a report has the total of memory.
  EXPECT_EQ(stock_of(only_report(std::string("Node 0 hugepages_total=2 hugepages_free=0 hugepages_surp=0 "
                                             "hugepages_size=2048kB\n") +
                                 kEnd))
                .total,
            19840u * 4096);
}

// If a report lacks a large part of the memory, the rest is not called unaccounted: most of it may be this part.
TEST(CutReports, UnaccountedMemoryIsUnknownWithoutALargePart) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  EXPECT_TRUE(line_of(stock_of(only_report(whole)), "unaccounted"));
  for (const std::string_view part : {" inactive_file:20", " slab_unreclaimable:60"}) {
    std::string log = whole;
    log.erase(log.find(part), part.size());
    EXPECT_FALSE(line_of(stock_of(only_report(log)), "unaccounted")) << part;
  }
}

TEST(CutReports, AWholeReportIsPreferredToOneWithoutItsFirstLines) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  const std::string late = std::string(kSecondZone) + kEnd;
  const Copies copies = copies_in_file("log", bytes_of(whole + "Killed process 7 (a) total-vm:1kB\n" + late));
  ASSERT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.unusable_reports, 1u);
  EXPECT_NE(text_of(copies.reports[0], "meminfo").find("Active(anon)"), std::string_view::npos);
  EXPECT_EQ(copies_in_file("log", bytes_of(late)).reports.size(), 1u);
}

// Other messages may contain names of counters.
TEST(CutReports, OtherMessagesStartNoReport) {
  for (const char* const log :
       {"[ 1.0] foo: free:5 min:3\n", "[ 1.0] low:1 high:2 min:3\n", "[ 1.0] free: 12 kB\n",
        "[ 1.0] x free:7kB min:3kB\n",
        "[ 1.0] Memory cgroup stats: cache:4KB rss:8KB inactive_anon:4KB active_anon:8KB\n", "100 pages RAM\n"})
    EXPECT_TRUE(oom_reports(log).empty()) << log;
}

// The kernel prints its release after the report if it panics.
TEST(CutReports, TheReleaseMayBeInOtherMessages) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  EXPECT_EQ(stock_of(only_report("Linux version 5.4.51-x (me@there)\n" + whole)).memory.release, "5.4.51-x");
  EXPECT_EQ(
      stock_of(only_report(whole + "Kernel panic - not syncing\nCPU: 4 PID: 1 Comm: init Tainted: G O 5.4.51-x #1\n"))
          .memory.release,
      "5.4.51-x");
  for (const char* const line_break : {"\n", " "})
    for (const char* const tainted : {"Not tainted", "Tainted: G      OE"}) {
      const std::string line = std::string("CPU: 4 PID: 1 Comm: init") + line_break + tainted;
      EXPECT_EQ(stock_of(only_report("a invoked oom-killer: order=0\n" + line + line_break + "5.4.51-x #1\n" + whole))
                    .memory.release,
                "5.4.51-x")
          << line;
      EXPECT_EQ(stock_of(only_report(whole + line + line_break + "5.4.51-x #1\n")).memory.release, "5.4.51-x") << line;
    }
}

TEST(CutReports, RowsOfTasksAreCounted) {
  const OomReport report =
      only_report(std::string(kBegin) + kEnd +
                  "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
                  "[    320]     0   320    20000      200    69632       30          -250 one\n"
                  "[    321]     0   321    20000      200    69>\n[7] Started Session 40\n");
  EXPECT_EQ(report.kill.tasks.size(), 1u);
  EXPECT_EQ(report.damaged_tasks, 1u);
  EXPECT_TRUE(notes(report, "mixed with other text: 1"));
}

TEST(MixedReports, AreNotSummed) {
  const std::string log = std::string(kBegin) + kFirstZone +
                          "Node 0 DMA free:9000kB min:4kB present:15992kB managed:15360kB free_pcp:20kB\n" + kEnd;
  EXPECT_TRUE(only_report(log).is_mixed);
  try {
    copies_in_file("log", bytes_of(log));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be distinguished"), std::string::npos);
  }
}

// A torn line may contain only the first digits of a number.
TEST(CutReports, ATotalBelowItsPartsIsNotUsed) {
  const std::string nodes =
      "Node 0 active_anon:400000kB inactive_anon:200kB\nNode 1 active_anon:400000kB inactive_anon:200kB\n";
  const auto report = [&](const char* active, const char* ram) {
    return only_report(
        "Mem-Info:\nactive_anon:" + std::string(active) +
        " inactive_anon:100 isolated_anon:0\n active_file:10 inactive_file:20\n free:6000 free_pcp:30\n" + nodes +
        "Node 0 Normal free:24000kB present:1638400kB managed:1600000kB\n34 total pagecache pages\n" + ram +
        " pages RAM\n542 pages reserved\n");
  };
  EXPECT_TRUE(report("200000", "409600").damaged_totals.empty());
  EXPECT_TRUE(report("150000", "409600").damaged_totals.empty());  // other CPUs change it between readings
  EXPECT_EQ(report("2000", "409600").damaged_totals, std::vector<std::string>{"active_anon"});
  EXPECT_TRUE(notes(report("2000", "409600"), "active_anon is much smaller than its parts"));
  EXPECT_EQ(report("200000", "4096").damaged_totals, std::vector<std::string>{"pages RAM"});
  EXPECT_EQ(total_bytes_of(report("200000", "4096")), 1600000ull << 10);
}

// Two machines without names wrote to one console.
TEST(MixedReports, ACounterWithTwoValuesIsMixed) {
  const std::string node = "Node 0 active_anon:8000kB inactive_anon:400kB kernel_stack:160kB\n";
  const std::string begin = "Mem-Info:\nactive_anon:2000 inactive_anon:100 isolated_anon:0\n free:6000 free_pcp:30\n";
  EXPECT_FALSE(only_report(begin + node + node + kFirstZone).is_mixed);
  EXPECT_TRUE(only_report(begin + node + "Node 0 active_anon:500kB inactive_anon:3kB\n" + kFirstZone).is_mixed);
}

TEST(CutReports, UnitsMayFollowABlank) {
  std::string text = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  const auto whole = line_of(stock_of(only_report(text)), "kernel-stacks");
  for (std::size_t at = text.find("kB"); at != text.npos; at = text.find("kB", at + 3)) text.insert(at, " ");
  EXPECT_EQ(line_of(stock_of(only_report(text)), "kernel-stacks"), whole);
  EXPECT_EQ(whole, 480 * 1024);
}

TEST(MixedReports, ALogMayHaveEachLineTwice) {
  std::string log;
  for (const std::string_view part : {kBegin, kFirstZone, kEnd})
    for (std::size_t at = 0, end = 0; (end = part.find('\n', at)) != part.npos; at = end + 1)
      for (int twice = 0; twice < 2; ++twice) log += "[  1.500000] " + std::string(part.substr(at, end - at)) + "\n";
  EXPECT_FALSE(only_report(log).is_mixed);
}

std::string with_prefix(const std::string& prefix, std::string_view text) {
  std::string log;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1)
    log += prefix + std::string(text.substr(at, end - at)) + "\n";
  return log;
}

TEST(MixedReports, HostsAreDistinguishedAndNotCompared) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  std::string log;
  const std::string a = with_prefix("Mar  1 10:00:00 alpha kernel: ", whole);
  const std::string b = with_prefix("Mar  1 10:00:00 beta kernel: ", whole);
  for (std::size_t i = 0, j = 0; i < a.size();) {
    const std::size_t end = a.find('\n', i) + 1;
    const std::size_t other = b.find('\n', j) + 1;
    log += a.substr(i, end - i) + b.substr(j, other - j);
    i = end;
    j = other;
  }
  const Copies copies = copies_in_file("log", bytes_of(log));
  EXPECT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.foreign_reports, 1u);
  EXPECT_EQ(copies.mixed_reports, 0u);
}

TEST(MixedReports, MemoryOfAnotherSizeIsOfAnotherMachine) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  std::string larger = whole;
  larger.replace(larger.find("20382 pages RAM"), 5, "90000");
  const Copies copies = copies_in_file("log", bytes_of(whole + larger));
  EXPECT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.foreign_reports, 1u);
}

// The line kernel_misc_reclaimable is between those of pagetables and free.
TEST(CutReports, ReclaimableMemoryIsUnknownWithoutTheLinesAroundIt) {
  const std::string whole = std::string(kBegin) + kFirstZone + kSecondZone + kEnd;
  const auto without = [&](const std::string& words, std::size_t lines) {
    std::string text = whole;
    const std::size_t at = text.find(words);
    std::size_t end = at;
    for (std::size_t i = 0; i < lines; ++i) end = text.find('\n', end) + 1;
    return line_of(stock_of(only_report(text.erase(at, end - at))), "others.reclaimable");
  };
  EXPECT_EQ(without(" sec_pagetables", 2), 0);  // before Linux 4.20
  EXPECT_EQ(without(" mapped:5", 3), std::nullopt);
}

TEST(OldReports, TheAllocatorSlobHasOneCounter) {
  const OomReport report = only_report(
      "Mem-info:\nactive_anon:2000 inactive_anon:100 isolated_anon:0\n free:6000 "
      "slab_reclaimable:0 slab_unreclaimable:0 mapped:5 pagetables:7\n" +
      std::string(kFirstZone) + "20382 pages of RAM\n750 slab pages\n542 reserved pages\n");
  EXPECT_EQ(line_of(stock_of(report), "slab"), 750 * 4096);
}

TEST(OldReports, CountersOfLinux2_6_0) {
  const SnapshotResult found = stock_of(only_report(
      "Mem-info:\ncpu 0 hot: low 32, high 96, batch 16 used:40\ncpu 0 cold: low 0, high 32, batch 16 used:2\n"
      "Active:4000 inactive:1900 dirty:29 writeback:0 unstable:0 free:5000\n"
      "Node 0 DMA free:12000kB min:20kB\nNode 0 Normal free:8000kB min:20kB\n20000 pages of RAM\n1000 reserved "
      "pages\n"));
  EXPECT_EQ(line_of(found, "user"), 5900 * 4096);
  EXPECT_EQ(line_of(found, "free"), 5000 * 4096);
  EXPECT_FALSE(line_of(found, "page-tables"));
  EXPECT_FALSE(line_of(found, "free.cpu-lists"));
}

}  // namespace
}  // namespace kmt
