// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading reports of OOM kills that mail programs and terminals wrapped, and that mails quote.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/log/cut_number.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parse.hpp"

namespace kmt {
namespace {

constexpr const char* kReport =
    "[  100.000001] hog invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, "
    "oom_score_adj=0\n"
    "[  100.000002] Mem-Info:\n"
    "[  100.000003] active_anon:123456 inactive_anon:234567 isolated_anon:12\n"
    "[  100.000003]  active_file:3456 inactive_file:4567 isolated_file:1\n"
    "[  100.000003]  unevictable:678 dirty:89 writeback:12\n"
    "[  100.000003]  slab_reclaimable:12345 slab_unreclaimable:23456\n"
    "[  100.000003]  mapped:3456 shmem:4567 pagetables:5678\n"
    "[  100.000003]  sec_pagetables:0 bounce:0\n"
    "[  100.000003]  kernel_misc_reclaimable:0\n"
    "[  100.000003]  free:34567 free_pcp:456 free_cma:0\n"
    "[  100.000004] Node 0 active_anon:493824kB inactive_anon:938268kB active_file:13824kB inactive_file:18268kB "
    "unevictable:2712kB isolated(anon):48kB isolated(file):4kB mapped:13824kB shmem:18268kB anon_thp:20480kB "
    "kernel_stack:12345kB pagetables:22712kB all_unreclaimable? no\n"
    "[  100.000005] Node 0 Normal free:138268kB boost:0kB min:45056kB low:56320kB high:67584kB "
    "active_anon:493824kB inactive_anon:938268kB active_file:13824kB inactive_file:18268kB unevictable:2712kB "
    "present:4194304kB managed:4056780kB free_pcp:1824kB local_pcp:123kB free_cma:0kB\n"
    "[  100.000006] Node 0 Normal: 1234*4kB (UME) 2345*8kB (UME) 1234*16kB (UME) 567*32kB (UE) 123*64kB (UE) "
    "234*128kB (UME) 111*256kB (UM) 10*512kB (M) 6*1024kB (M) 0*2048kB 0*4096kB = 139088kB\n"
    "[  100.000007] 13123 total pagecache pages\n"
    "[  100.000008] 234 pages in swap cache\n"
    "[  100.000009] Free swap  = 1234568kB\n"
    "[  100.000009] Total swap = 2345676kB\n"
    "[  100.000010] 1048576 pages RAM\n"
    "[  100.000011] 34381 pages reserved\n"
    "[  100.000012] Tasks state (memory values in pages):\n"
    "[  100.000013] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
    "[  100.000014] [   1234]  1000  1234   567890   345678  3456789      123             0 hog\n"
    "[  100.000015] Out of memory: Killed process 1234 (hog) total-vm:2271560kB, anon-rss:1382712kB\n";

// Cuts lines at the width, also inside words.
std::string split_at(std::string_view log, std::size_t width, const std::string& quote, const std::string& end) {
  std::string out;
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    for (; !line.empty(); line.remove_prefix(std::min(width, line.size())))
      out.append(quote).append(line.substr(0, width)).append(end);
  }
  return out;
}

// Wraps lines between words.
std::string wrapped_at(std::string_view log, std::size_t width, const std::string& quote, const std::string& end) {
  std::string out;
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    while (line.size() > width) {
      std::size_t at = line.rfind(' ', width);
      if (at == line.npos || at == 0) at = std::min(line.find(' ', 1), line.size());
      out.append(quote).append(line.substr(0, at)).append(end);
      line.remove_prefix(std::min(at + 1, line.size()));
    }
    out.append(quote).append(line).append(end);
  }
  return out;
}

std::string without_times(std::string_view log) {
  std::string out;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    out.append(line.substr(line.find("] ") + 2)).append("\n");
  }
  return out;
}

std::map<std::string, std::int64_t> known_lines(const OomReport& report) {
  std::map<std::string, std::int64_t> lines;
  for (const BalanceLine& line : take_stock(parse_snapshot(sample_of(report), 0)).sheet)
    if (line.known) lines[line.id] = line.bytes;
  return lines;
}

// True if all numbers that were found are right, and most were found. Some counters may be unknown: if a mail program
// happens to wrap most lines at one column, they look like lines cut at that width.
bool has_right_numbers(const LogNumbers& found, const LogNumbers& whole) {
  return found.size() + 3 >= whole.size() && std::ranges::all_of(found, [&](const auto& number) {
           const auto of_whole = whole.find(number.first);
           return of_whole != whole.end() && of_whole->second == number.second;
         });
}

void expect_right_numbers(const std::string& log, const OomReport& whole, bool is_exact) {
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  const OomReport& found = reports.front();
  ASSERT_EQ(found.nodes.size(), 1u);
  ASSERT_EQ(found.zones.size(), 1u);
  const LogZone& zone = found.zones.begin()->second;
  const LogZone& whole_zone = whole.zones.begin()->second;
  EXPECT_TRUE(has_right_numbers(found.totals, whole.totals));
  EXPECT_TRUE(has_right_numbers(found.lines, whole.lines));
  EXPECT_TRUE(has_right_numbers(found.nodes.begin()->second, whole.nodes.begin()->second));
  EXPECT_TRUE(has_right_numbers(zone.numbers, whole_zone.numbers) || !is_exact);
  EXPECT_TRUE(zone.free == whole_zone.free || !zone.has_all_free);
  const auto lines = known_lines(whole);
  for (const auto& [id, bytes] : known_lines(found)) EXPECT_TRUE(!is_exact || bytes == lines.at(id)) << id;
  EXPECT_TRUE(found.kill.victim_pid == 1234 || found.kill.victim_pid == 0);
  for (const OomTask& task : found.kill.tasks) {
    EXPECT_EQ(task.rss_pages, 345678u);
    EXPECT_EQ(task.swap_pages, 123u);
  }
  EXPECT_EQ(found.kill.tasks.size() + found.damaged_tasks, 1u);
}

TEST(WrappedReports, NumbersAreJoined) {
  const std::string untimed = without_times(kReport);
  for (const std::string_view log : {std::string_view(kReport), std::string_view(untimed)}) {
    const OomReport whole = oom_reports(log).at(0);
    EXPECT_EQ(whole.kill.tasks.size(), 1u);
    EXPECT_EQ(whole.totals.at("inactive_anon"), 234567u);
    for (std::size_t width = 64; width <= 100; ++width)
      for (const char* const quote : {"", "> ", ">> "})
        for (const char* const end : {"\n", "\r\n"}) {
          SCOPED_TRACE(width);
          expect_right_numbers(split_at(log, width, quote, end), whole, true);
          expect_right_numbers(wrapped_at(log, width, quote, end), whole, false);
        }
  }
}

TEST(WrappedReports, OnlyCertainRestsAreJoined) {
  EXPECT_TRUE(continues_number("active_anon:12", "34 inactive_anon:5"));
  EXPECT_TRUE(continues_number("Node 0 DMA free:12", "34kB min:5kB"));
  EXPECT_TRUE(continues_number("Node 0 DMA free:1234", "kB min:5kB"));
  EXPECT_TRUE(continues_number("Node 0 DMA free:1234k", "B min:5kB"));
  EXPECT_TRUE(continues_number("Node 0 DMA: 1", "2*4kB (U)"));
  EXPECT_TRUE(continues_number("Node 0 DMA: 12*", "4kB (U)"));
  EXPECT_TRUE(continues_number("Node 0 DMA: 12*1", "28kB (U)"));
  EXPECT_TRUE(continues_number("Node 0 DMA: 12*4kB = 4", "8kB"));
  EXPECT_TRUE(continues_number("Total swap = 12", "34kB"));
  EXPECT_TRUE(continues_number("52", "4178 pages RAM"));
  EXPECT_FALSE(continues_number("free:12 free_cma:0", "524178 pages RAM"));
  EXPECT_FALSE(continues_number("lowmem_reserve[]: 0 12", "34 56"));
  EXPECT_FALSE(continues_number("[ 12] 0 12", "34 56 bash"));
  EXPECT_FALSE(continues_number("active_anon:12", "inactive_anon:5"));
  EXPECT_FALSE(continues_number("active_anon:", "34"));
  EXPECT_FALSE(continues_number("", "34"));
  EXPECT_FALSE(continues_number("active_anon:12", ""));
}

TEST(WrappedReports, ANumberThatMayLackDigitsIsUnknown) {
  const std::string begin = "Mem-Info:\nactive_anon:123 inactive_anon:45";
  EXPECT_EQ(oom_reports(begin + "\n").at(0).totals.count("inactive_anon"), 1u);
  EXPECT_EQ(oom_reports(begin).at(0).totals.count("inactive_anon"), 0u);
  EXPECT_EQ(oom_reports(begin + "k\n").at(0).totals.count("inactive_anon"), 0u);
  const std::string end = begin + "\nFree swap  = 123\n1024 pages RAM\n";
  EXPECT_EQ(oom_reports(end).at(0).lines.count("Free swap"), 0u);
}

// A row whose columns are shifted by a cut has one more number.
TEST(WrappedReports, RowsThatWereCutInsideANumberAreDamaged) {
  const OomReport report = oom_reports(std::string(kReport) +
                                       "[  200.000001] Mem-Info:\n[  200.000001] active_anon:1 inactive_anon:2\n"
                                       "[  200.000002] [  pid  ]   uid  tgid total_vm rss swapents oom_score_adj name\n"
                                       "[  200.000003] [   1234]  1000  1234   567 890   345        0        0 hog\n"
                                       "[  200.000004] [ 12 34]  1000  1234   567890   345        0        0 hog\n")
                               .at(1);
  EXPECT_TRUE(report.kill.tasks.empty());
  EXPECT_EQ(report.damaged_tasks, 2u);
}

TEST(WrappedReports, AListOfFreeBlocksWithAWrongSumIsUnknown) {
  std::string log = kReport;
  log.replace(log.find("= 139088kB"), 10, "= 139084kB");
  const OomReport report = oom_reports(log).at(0);
  EXPECT_TRUE(report.has_wrong_sum);
  EXPECT_TRUE(report.zones.begin()->second.free.empty());
}

// The answer to a mail has a report of another kernel between the lines of the quoted report.
TEST(QuotedReports, AreDistinguishedFromTheAnswer) {
  const std::string quoted = split_at(kReport, 1000, "> ", "\n");
  const std::size_t middle = quoted.find("> [  100.000004]");
  const std::string log = quoted.substr(0, middle) +
                          "\nFrom the new kernel:\n    [  700.000001] Mem-Info:\n"
                          "    [  700.000002] active_anon:1 inactive_anon:2 isolated_anon:0\n"
                          "    [  700.000002]  free:3 free_pcp:4 free_cma:0\n\n" +
                          quoted.substr(middle);
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].totals.at("active_anon"), 123456u);
  EXPECT_EQ(reports[0].zones.size(), 1u);
  EXPECT_EQ(reports[1].totals.at("active_anon"), 1u);
  EXPECT_FALSE(reports[0].is_mixed);
}

TEST(RepeatedReports, CountOnce) {
  const std::string twice = std::string(kReport) + kReport;
  const auto read = [](const std::string& log) {
    return copies_in_file("log", {reinterpret_cast<const std::uint8_t*>(log.data()), log.size()});
  };
  EXPECT_EQ(read(twice).reports.size(), 1u);
  EXPECT_EQ(read(twice).repeated_reports, 1u);
  std::string later = kReport;
  for (std::size_t at = 0; (at = later.find("[  100.", at)) != later.npos; ++at) later.replace(at, 7, "[  200.");
  EXPECT_EQ(read(kReport + later).reports.size(), 2u);
}

TEST(CallSites, OfReportsAreRead) {
  for (const char* const title : {"Memory allocations:", "Memory allocations (profiling is currently turned on):"}) {
    const OomReport report = oom_reports(std::string(kReport).substr(0, std::string(kReport).find("[  100.000012]")) +
                                         "[  100.000012] " + title +
                                         "\n[  100.000013]     38.4 MiB     5505 mm/slub.c:3075 func:alloc_slab_page\n"
                                         "[  100.000014]      512 B        2 drivers/a.c:12 [barn] func:fill\n")
                                 .at(0);
    const SnapshotResult found = take_stock(parse_snapshot(sample_of(report), 0));
    ASSERT_EQ(found.memory.allocinfo.size(), 2u) << title;
    EXPECT_EQ(found.memory.allocinfo[0].name, "mm/slub.c:3075 alloc_slab_page");
    EXPECT_EQ(found.memory.allocinfo[0].bytes, 40265318u);
    EXPECT_TRUE(found.memory.allocinfo[0].approximate);
    EXPECT_EQ(found.memory.allocinfo[1].of, "barn");
    EXPECT_EQ(found.memory.allocinfo[1].count, 2u);
  }
}

TEST(WrappedReports, BooksMarkWrappedLinesWithArrows) {
  const std::string log =
      "Oct 14 10:22:40 host kernel: Task in /foo killed as a result of limit of /foo\n"
      "Oct 14 10:22:40 host kernel: memory: usage 4kB, limit 4kB,\n \xe2\x86\xaa failcnt 8\n"
      "Oct 14 10:22:40 host kernel: [ pid ]   uid  tgid total_vm\n \xe2\x86\xaarss nr_ptes swapents oom_score_adj "
      "name\n"
      "Oct 14 10:22:40 host kernel: [ 2687]     0  2687    28281\n \xe2\x86\xaa"
      "347     12        0             0 sh\n"
      "Oct 14 10:22:40 host kernel: Memory cgroup out of memory:\n \xe2\x86\xaaKill process 2687 (sh) score 0 or "
      "sacrifice "
      "child\n";
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports.front().kill.tasks.size(), 1u);
  EXPECT_EQ(reports.front().kill.tasks.front().rss_pages, 347u);
}

}  // namespace
}  // namespace kmt
