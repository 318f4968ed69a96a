// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading reports of kills inside a cgroup that reached its limit. The sums were computed by hand.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parse.hpp"

namespace kmt {
namespace {

constexpr std::int64_t kKiB = 1024;

// A report of Linux 3.10 about a version 1 cgroup.
const std::string kOld =
    "[8.1] dd invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
    "[8.1] CPU: 1 PID: 5021 Comm: dd Not tainted 3.10.0-327.el7.x86_64 #1\n"
    "[8.1] Task in /a.slice/b killed as a result of limit of /a.slice\n"
    "[8.1] memory: usage 204800kB, limit 204800kB, failcnt 22\n"
    "[8.1] memory+swap: usage 204800kB, limit 9007199254740991kB, failcnt 0\n"
    "[8.1] kmem: usage 400kB, limit 9007199254740991kB, failcnt 0\n"
    "[8.1] Memory cgroup stats for /a.slice: cache:100KB rss:200KB rss_huge:0KB mapped_file:0KB swap:0KB\n"
    "[8.1] Memory cgroup stats for /a.slice/b: cache:300KB rss:203000KB rss_huge:4096KB mapped_file:0KB swap:0KB\n"
    "[8.1] [ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name\n"
    "[8.1] [ 5021]     0  5021   110741    51497     115        0             0 dd\n"
    "[8.1] Memory cgroup out of memory: Kill process 5021 (dd) score 977 or sacrifice child\n"
    "[8.1] Killed process 5021 (dd) total-vm:442964kB, anon-rss:204720kB, file-rss:1268kB\n";

// Returns a report of Linux 6.8 about a version 2 cgroup. Each line starts with `time`.
std::string report_of(const std::string& time, const std::string& path, const std::string& slab) {
  std::string text;
  for (const std::string& line : {
           std::string("node invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=999"),
           std::string("memory: usage 1048576kB, limit 1048576kB, failcnt 31"),
           std::string("swap: usage 0kB, limit 0kB, failcnt 0"),
           "Memory cgroup stats for " + path + ":",
           std::string("anon 1048576000"),
           std::string("file 6144000"),
           std::string("kernel 8192000"),
           std::string("kernel_stack 1024000"),
           std::string("pagetables 2048000"),
           std::string("sec_pagetables 0"),
           std::string("percpu 1024"),
           std::string("sock 4096"),
           std::string("vmalloc 8192"),
           std::string("shmem 2048000"),
           std::string("swapcached 0"),
           std::string("slab_reclaimable 1000"),
           "slab_unreclaimable " + slab,
           std::string("pgfault 77"),
           std::string("Tasks state (memory values in pages):"),
           std::string("[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents "
                       "oom_score_adj name"),
           std::string("[     77]     0    77    70000    64000    64000        0         0  2048000        0  "
                       "         999 node"),
           "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=" + path +
               ",task_memcg=" + path + "/y,task=node,pid=77,uid=0",
           std::string("Memory cgroup out of memory: Killed process 77 (node) total-vm:7169492kB, "
                       "anon-rss:1024000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:2000kB"),
       })
    text += "[" + time + "] " + line + "\n";
  return text;
}

// A report of a kill because the whole machine lacked memory.
const std::string kMachine =
    "[9.1] Mem-Info:\n"
    "[9.1] active_anon:100 inactive_anon:100 isolated_anon:0\n"
    "[9.1]  active_file:100 inactive_file:100 isolated_file:0\n"
    "[9.1]  unevictable:0 dirty:0 writeback:0\n"
    "[9.1]  slab_reclaimable:10 slab_unreclaimable:20\n"
    "[9.1]  mapped:0 shmem:0 pagetables:10 bounce:0\n"
    "[9.1]  free:100 free_pcp:0 free_cma:0\n"
    "[9.1] 400 total pagecache pages\n"
    "[9.1] 0 pages in swap cache\n"
    "[9.1] 1000 pages RAM\n"
    "[9.1] 0 pages HighMem/MovableOnly\n"
    "[9.1] 100 pages reserved\n"
    "[9.1] Out of memory: Killed process 5 (x) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n";

SnapshotResult stock_of(const Copies& copies) { return take_stock(parse_snapshot(copies.reports.at(0), 0)); }

Copies copies_of(const std::string& text) {
  return copies_in_file("dmesg.txt", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::map<std::string, std::int64_t> lines_of(const SnapshotResult& result) {
  std::map<std::string, std::int64_t> lines;
  std::int64_t sum = 0;
  for (const BalanceLine& line : result.sheet) {
    if (line.known) lines[line.id] = line.bytes;
    if (line.depth == 0) sum += line.bytes;
  }
  EXPECT_EQ(sum, static_cast<std::int64_t>(result.total));
  return lines;
}

TEST(CgroupOom, TheSheetDividesTheUsage) {
  const std::string text = report_of("8.5", "/pods/a", "4096000");
  const Copies copies = copies_of(text);
  EXPECT_EQ(copies.cgroup, "/pods/a");
  const SnapshotResult result = stock_of(copies);
  EXPECT_EQ(result.total, 1048576u * 1024);
  EXPECT_EQ(result.memory.page_size, 16384u) << "the killed task has 64000 pages, which are 1024000 kB";
  EXPECT_TRUE(result.health.empty()) << "the checks are about machines";
  auto lines = lines_of(result);
  EXPECT_EQ(lines["user.anonymous"], 1048576000);
  EXPECT_EQ(lines["user.page-cache"], 4096000);
  EXPECT_EQ(lines["user.shmem"], 2048000);
  EXPECT_EQ(lines["slab"], 4097000);
  EXPECT_EQ(lines["slab.reclaimable"], 1000);
  EXPECT_EQ(lines["kernel-stacks"], 1024000);
  EXPECT_EQ(lines["page-tables"], 2048000);
  EXPECT_EQ(lines["percpu"], 1024);
  EXPECT_EQ(lines["vmalloc"], 8192);
  EXPECT_EQ(lines["others.sockets"], 4096);
  EXPECT_EQ(lines["others.kernel"], 8192000 - 4097000 - 1024000 - 2048000 - 1024 - 8192);
  EXPECT_EQ(lines["unaccounted"], 1073741824 - 1048576000 - 6144000 - 8192000 - 4096);
  const OomKill& kill = *result.memory.oom;
  EXPECT_EQ(kill.victim, "node");
  EXPECT_EQ(kill.victim_pid, 77u);
  EXPECT_EQ(kill.tasks.size(), 1u);
  EXPECT_EQ(kill.cgroup->limit_bytes, 1048576u * 1024);
}

// A mail program may cut the path in the line of the kill, but not that in the line before the statistics.
TEST(CgroupOom, ACutPathIsCompleted) {
  std::string log = kOld;
  const std::string path = "killed as a result of limit of /a.slice";
  log.replace(log.find(path), path.size(), path.substr(0, path.size() - 3));
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.front().kill.cgroup->memory.path, "/a.slice");
}

TEST(CgroupOom, OldKernelsPrintEachChildCgroup) {
  const SnapshotResult result = stock_of(copies_of(kOld));
  EXPECT_EQ(result.memory.oom->cgroup->memory.path, "/a.slice");
  EXPECT_EQ(result.memory.oom->victim, "dd");
  auto lines = lines_of(result);
  EXPECT_EQ(lines["user.anonymous"], 203200 * kKiB);
  EXPECT_EQ(lines["user.page-cache"], 400 * kKiB);
  EXPECT_EQ(lines["user.huge"], 4096 * kKiB);
  EXPECT_EQ(lines["others.kernel"], 400 * kKiB);
  EXPECT_EQ(lines["unaccounted"], (204800 - 203200 - 400 - 400) * kKiB);
  EXPECT_FALSE(lines.contains("slab")) << "it is in the kernel's memory";
}

TEST(CgroupOom, OnlyTheCgroupOfTheLastKillIsUsed) {
  const Copies copies = copies_of(report_of("8.5", "/pods/a", "1") + report_of("9.5", "/pods/b", "2") +
                                  report_of("10.5", "/pods/b", "3"));
  EXPECT_EQ(copies.reports.size(), 2u);
  EXPECT_EQ(copies.cgroup, "/pods/b");
  EXPECT_EQ(copies.cgroup_reports, 1u);
  EXPECT_EQ(copies.reports[1].ticks, 1'000'000'000u);
}

TEST(CgroupOom, AReportWithStatisticsIsPreferred) {
  const Copies copies = copies_of(report_of("8.5", "/pods/a", "1") +
                                  "[9.5] x invoked oom-killer: order=0\n"
                                  "[9.5] memory: usage 1048576kB, limit 1048576kB, failcnt 32\n"
                                  "[9.5] Killed process 8 (x) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n");
  EXPECT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.cgroup, "/pods/a");
  EXPECT_EQ(copies.cgroup_reports, 1u);
}

TEST(CgroupOom, AReportOfTheMachineIsPreferred) {
  for (const std::string& text :
       {report_of("8.5", "/pods/a", "1") + kMachine, kMachine + report_of("9.5", "/pods/a", "1")}) {
    const Copies copies = copies_of(text);
    EXPECT_EQ(copies.reports.size(), 1u);
    EXPECT_EQ(copies.cgroup, "");
    EXPECT_EQ(copies.cgroup_reports, 1u);
    EXPECT_EQ(stock_of(copies).total, 900u * 4096);
  }
}

// Two CPUs may print at the same time.
TEST(CgroupOom, LinesAboutACgroupDoNotChangeAReportOfTheMachine) {
  std::string text = kMachine;
  text.insert(text.find("[9.1] 1000 pages RAM"), "[9.1] Memory cgroup stats for /pods/a:\n[9.1] anon 4096\n");
  const SnapshotResult result = stock_of(copies_of(text));
  EXPECT_EQ(result.total, 900u * 4096);
  EXPECT_EQ(limited_cgroup(result.memory), nullptr);
}

TEST(CgroupOom, TheFirstLinesMayBeMissing) {
  const std::string text = kOld.substr(kOld.find("[8.1] memory: usage"));
  const SnapshotResult result = stock_of(copies_of(text));
  EXPECT_EQ(result.total, 204800u * 1024);
  EXPECT_EQ(result.memory.oom->cgroup->memory.path, "/a.slice");
}

TEST(CgroupOom, WithoutStatisticsTheRestIsUnknown) {
  std::string text = kOld;
  for (std::size_t at = text.find("[8.1] Memory cgroup stats"); at != text.npos;
       at = text.find("[8.1] Memory cgroup stats"))
    text.erase(at, text.find('\n', at) + 1 - at);
  const SnapshotResult result = take_stock(parse_snapshot(copies_of(text).reports.at(0), 0));
  EXPECT_EQ(result.total, 204800u * 1024);
  EXPECT_FALSE(result.sheet.back().known);
  EXPECT_EQ(result.sheet.back().id, "unaccounted");
}

TEST(CgroupOom, AKillWithoutTheUsageIsRefused) {
  const std::string text = kOld.substr(kOld.find("[8.1] Memory cgroup out of memory"));
  EXPECT_THROW(copies_of(text), Error);
}

TEST(CgroupOom, ACgroupIsNotComparedWithAnother) {
  const SnapshotResult a = stock_of(copies_of(report_of("8.5", "/pods/a", "1")));
  const SnapshotResult b = stock_of(copies_of(report_of("8.5", "/pods/b", "1")));
  const SnapshotResult machine = stock_of(copies_of(kMachine));
  EXPECT_NO_THROW(diff(a, a));
  EXPECT_THROW(diff(a, b), Error);
  EXPECT_THROW(diff(a, machine), Error);
}

// Counters that an old kernel lacks are 0. If a report has no statistics at all, its counters are unknown.
TEST(CgroupOom, CountersAreUnknownWithoutStatistics) {
  const auto line_in = [](const std::string& log, std::string_view id) {
    const SnapshotResult found = take_stock(parse_snapshot(sample_of(oom_reports(log).back()), 0));
    return *std::ranges::find(found.sheet, id, &BalanceLine::id);
  };
  std::string without = kOld;
  for (std::size_t at = 0; (at = without.find("[8.1] Memory cgroup stats")) != without.npos;)
    without.erase(at, without.find('\n', at) + 1 - at);
  for (const char* const id : {"user.shmem", "others.zswap"}) {
    EXPECT_TRUE(line_in(kOld, id).known) << id;
    EXPECT_FALSE(line_in(without, id).known) << id;
  }
}

}  // namespace
}  // namespace kmt
