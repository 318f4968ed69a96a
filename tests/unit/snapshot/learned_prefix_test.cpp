// SPDX-License-Identifier: GPL-2.0-or-later
// Tests logs with prefixes of unknown forms, and numbers that programs or the kernel have changed.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "snapshot/log/oom_report.hpp"

namespace kmt {
namespace {

// A report of a machine with `free` free pages, without the kernel's times.
std::vector<std::string> lines_of_report(unsigned free) {
  return {"hog invoked oom-killer: gfp_mask=0x280da, order=0, oom_score_adj=0",
          "Mem-Info:",
          "Node 0 DMA per-cpu:",
          "CPU    0: hi:  186, btch:  31 usd:  86",
          "active_anon:405991 inactive_anon:57 isolated_anon:0",
          " active_file:35 inactive_file:69 isolated_file:0",
          fmt::format(" free:{} slab_reclaimable:1635 slab_unreclaimable:1919", free),
          " mapped:34 shmem:70 pagetables:1423 bounce:0",
          fmt::format("Node 0 DMA free:{}kB min:412kB present:2097024kB managed:1738820kB", free * 4),
          fmt::format("Node 0 DMA: {}*4kB = {}kB", free, free * 4),
          "204 total pagecache pages",
          "0 pages in swap cache",
          "524256 pages RAM",
          "0 pages HighMem/MovableOnly",
          "89551 pages reserved",
          "[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name",
          "[ 1532]     0  1532   110741    51497     115        0             0 hog",
          "Out of memory: Kill process 1532 (hog) score 900 or sacrifice child",
          "Killed process 1532 (hog) total-vm:442964kB, anon-rss:204720kB, file-rss:1268kB"};
}

std::string log_with(const std::function<std::string(std::size_t)>& prefix) {
  std::string log;
  std::size_t number = 0;
  for (const std::string& line : lines_of_report(12929)) log += prefix(++number) + line + "\n";
  return log;
}

void expect_report(const OomReport& report, unsigned free) {
  EXPECT_EQ(report.totals.at("free"), free);
  EXPECT_EQ(report.totals.at("slab_unreclaimable"), 1919u);
  EXPECT_EQ(report.lines.at("pages RAM"), 524256u);
  EXPECT_EQ(report.zones.at({0, "DMA"}).numbers.at("free"), free * 4);
  EXPECT_EQ(report.kill.invoked_by, "hog");
  EXPECT_EQ(report.kill.victim_pid, 1532u);
  EXPECT_EQ(report.kill.tasks.size(), 1u);
  EXPECT_FALSE(report.starts_late);
  EXPECT_FALSE(report.is_mixed);
}

TEST(LearnedPrefixes, OfAnyFormAreRemoved) {
  const std::vector<std::function<std::string(std::size_t)>> prefixes = {
      [](std::size_t number) { return fmt::format("{:6}\t", number); },  // cat -n
      [](std::size_t number) { return fmt::format("{}  ", number); },
      [](std::size_t number) { return fmt::format("/var/log/messages:{}:", 7995 + number); },  // grep -Hn
      [](std::size_t number) { return fmt::format("17145576{:05}\t", number); },               // milliseconds
      [](std::size_t number) { return fmt::format("2005-05-17_10:24:{:02}.76726 kern.info: ", number); },
      [](std::size_t) { return "[mer. mars  1 10:00:00 2024] "; },  // dmesg -T in French
      [](std::size_t) { return "Oct 29 15:25:19 sleepy crashlog: "; },
      [](std::size_t) { return "2024-05-01T10:00:00.000Z i-0abc123 "; },
      [](std::size_t number) { return fmt::format("[  163.{:06}] (CPU:1-pid:222:kworker/u8) ", number); },
      [](std::size_t) { return "node-a    | "; },
      [](std::size_t) { return "* "; },
      [](std::size_t) { return "&nbsp;&nbsp;"; },
      [](std::size_t) { return ""; },
  };
  for (const auto& prefix : prefixes) {
    SCOPED_TRACE(prefix(1));
    const std::vector<OomReport> reports = oom_reports(log_with(prefix));
    ASSERT_EQ(reports.size(), 1u);
    expect_report(reports.front(), 12929);
  }
}

// Lines of two machines in one log, each with the name of its machine.
TEST(LearnedPrefixes, MachinesAreDistinguished) {
  std::string log;
  const auto first = lines_of_report(12929);
  const auto second = lines_of_report(54321);
  for (std::size_t i = 0; i < first.size(); ++i) log += "pod/a-1 | " + first[i] + "\npod/b-2 | " + second[i] + "\n";
  const std::vector<OomReport> reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 2u);
  expect_report(reports[0], 12929);
  expect_report(reports[1], 54321);
  EXPECT_NE(reports[0].host, reports[1].host);
}

// A number before a single line is no prefix, and must not be removed from lines such as "204 total pagecache pages".
TEST(LearnedPrefixes, NeedSeveralLines) {
  std::vector<std::string> lines = lines_of_report(12929);
  lines[1] = "34 Mem-Info:";
  std::string log;
  for (const std::string& line : lines) log += line + "\n";
  const std::vector<OomReport> reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.front().lines.at("total pagecache pages"), 204u);
}

TEST(ChangedNumbers, MayHaveThousandsSeparators) {
  std::string log = log_with([](std::size_t) { return ""; });
  for (const auto& [from, to] : {std::pair("pagetables:1423", "pagetables:1,423"), {"524256 pages", "524,256 pages"}})
    log.replace(log.find(from), std::string_view(from).size(), to);
  const std::vector<OomReport> reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.front().totals.at("pagetables"), 1423u);
  EXPECT_EQ(reports.front().lines.at("pages RAM"), 524256u);
}

// A terminal of 68 columns cuts "slab_unreclaimable:1919" to "slab_unreclaimable:191".
TEST(ChangedNumbers, AtTheEndOfCutLinesAreUnknown) {
  std::string log;
  for (std::string line : lines_of_report(12929)) {
    if (line.starts_with(" free:")) line = " free:12929 free_pcp:0  slab_reclaimable:1635 slab_unreclaimable:1919";
    if (const std::size_t at = line.find("present:"); at != std::string::npos)
      line.insert(at, "low:512kB high:616kB active_anon:8508kB inactive_anon:4kB ");
    log += line.substr(0, 68) + "\n";
  }
  const std::vector<OomReport> reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.front().totals.at("slab_reclaimable"), 1635u);
  EXPECT_FALSE(reports.front().totals.contains("slab_unreclaimable"));
}

TEST(ChangedNumbers, WithABlankInsideAreUnknown) {
  std::string log = log_with([](std::size_t) { return ""; });
  log.replace(log.find("pagetables:1423"), 15, "pagetables:1 423");
  const std::vector<OomReport> reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports.front().totals.contains("pagetables"));
  EXPECT_EQ(reports.front().totals.at("shmem"), 70u);
  EXPECT_EQ(reports.front().totals.at("bounce"), 0u);
}

// Linux 4.9 prints 280 kB of shared memory as anon_thp, and 8192 kB of anonymous huge pages as shmem_pmdmapped.
TEST(ChangedNumbers, ShiftedCountersOfLinux4_9) {
  std::vector<std::string> lines = lines_of_report(12929);
  const auto thp_with = [&](const std::string& node) {
    std::string log;
    for (const std::string& line : lines) log += (line.starts_with("Node 0 DMA free") ? node + "\n" : "") + line + "\n";
    return oom_reports(log).at(0).nodes.at(0);
  };
  const LogNumbers shifted =
      thp_with("Node 0 active_anon:1623964kB shmem:0kB shmem_thp: 0kB shmem_pmdmapped: 8192kB anon_thp: 280kB");
  EXPECT_EQ(shifted.at("shmem"), 280u);
  EXPECT_EQ(shifted.at("anon_thp"), 8192u);
  EXPECT_EQ(shifted.at("shmem_thp"), 0u);
  const LogNumbers right =
      thp_with("Node 0 active_anon:1623964kB shmem:280kB shmem_thp: 0kB shmem_pmdmapped: 0kB anon_thp: 8192kB");
  EXPECT_EQ(right.at("shmem"), 280u);
  EXPECT_EQ(right.at("anon_thp"), 8192u);
}

}  // namespace
}  // namespace kmt
