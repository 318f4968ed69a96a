// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading reports of OOM kills. tests/data/oom has reports in the formats of several kernels, with different
// prefixes. The expected sums were computed by hand.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/gzip.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/log/kernel_log.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parse.hpp"

namespace kmt {
namespace {

std::string log_text(const std::string& name) {
  return read_file(std::getenv("KMEMTRACE_DATA") + std::string("/oom/") + name);
}

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

SnapshotResult stock_of_report(const OomReport& report) { return take_stock(parse_snapshot(sample_of(report), 0)); }

SnapshotResult stock_of_log(const std::string& name) {
  const auto reports = oom_reports(log_text(name));
  EXPECT_EQ(reports.size(), 1u) << name;
  return stock_of_report(reports.at(0));
}

std::map<std::string, std::int64_t> lines_of(const SnapshotResult& result) {
  std::map<std::string, std::int64_t> lines;
  for (const BalanceLine& line : result.sheet)
    if (line.known) lines[line.id] = line.bytes;
  return lines;
}

struct Expected {
  const char* name;
  std::uint64_t total;
  std::uint32_t page_size;
  std::int64_t anonymous;
  std::int64_t page_cache;
  std::int64_t slab;
  std::int64_t stacks;
  std::int64_t unaccounted;
  const char* release;
  const char* victim;
};

constexpr std::array kExpected = {
    Expected{"2.6.32-dmesg.txt", 1053192192, 4096, 940982272, 2048000, 36864000, 1638400, 50507776, "", "hog"},
    Expected{"3.10-syslog.txt", 4136960000, 4096, 3640934400, 1228800, 184320000, 8192000, 215465984,
             "3.10.0-1160.el7.x86_64", "java"},
    Expected{"4.14-serial.txt", 1543684096, 4096, 1205714944, 8740864, 24576000, 4063232, 11456512, "4.14.0-xilinx",
             "ultra 96"},
    Expected{"5.15-journal.txt", 4111728640, 4096, 1916354560, 819200, 1261568000, 9216000, 559595520,
             "5.15.0-91-generic", "postgres"},
    Expected{"6.12-arm64-16k.txt", 4194304000, 16384, 3289907200, 1638400, 65536000, 4096000, 785121280,
             "6.12.5-v8-16k+", "rescue"},
};

TEST(OomReports, FormatsOfAllKernelsGiveTheSameSheet) {
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(expected.name);
    const SnapshotResult found = stock_of_log(expected.name);
    auto lines = lines_of(found);
    EXPECT_EQ(found.total, expected.total);
    EXPECT_EQ(found.memory.page_size, expected.page_size);
    EXPECT_EQ(lines["user.anonymous"], expected.anonymous);
    EXPECT_EQ(lines["user.page-cache"], expected.page_cache);
    EXPECT_EQ(lines["slab"], expected.slab);
    EXPECT_EQ(lines["kernel-stacks"], expected.stacks);
    EXPECT_EQ(lines["unaccounted"], expected.unaccounted);
    EXPECT_EQ(found.memory.release, expected.release);
    ASSERT_TRUE(found.memory.oom);
    EXPECT_EQ(found.memory.oom->victim, expected.victim);
    EXPECT_EQ(found.memory.oom->tasks.size(), 2u - (expected.page_size == 16384 ? 1 : 0));
    EXPECT_EQ(found.memory.unknown_lines, 0u);
    EXPECT_TRUE(std::ranges::none_of(found.sheet, &BalanceLine::is_contradiction));
  }
}

TEST(OomReports, WhatTheLogLacksIsUnknown) {
  const SnapshotResult found = stock_of_log("2.6.32-dmesg.txt");
  for (const char* const id : {"vmalloc", "percpu", "hugetlb"}) {
    const auto line = std::ranges::find(found.sheet, id, &BalanceLine::id);
    ASSERT_NE(line, found.sheet.end()) << id;
    EXPECT_FALSE(line->known) << id;
  }
  EXPECT_EQ(lines_of(found)["free.cpu-lists"], (40 + 24) * 4096);
}

TEST(OomReports, ZonesAndFreeBlocksAreRead) {
  const SnapshotResult numa = stock_of_log("3.10-syslog.txt");
  ASSERT_EQ(numa.memory.zones.size(), 2u);
  EXPECT_EQ(numa.memory.zones[1].node, 1u);
  EXPECT_EQ(numa.memory.zones[0].name, "Normal");
  EXPECT_EQ(numa.memory.zones[0].cpu_list_pages, 60u);
  EXPECT_EQ(numa.memory.zones[0].free[1], 2000u);
  EXPECT_EQ(lines_of(numa)["hugetlb"], 8 * (2 << 20));
  // Another message is between the parts of the line about free blocks.
  const SnapshotResult cut = stock_of_log("4.14-serial.txt");
  ASSERT_EQ(cut.memory.zones.size(), 1u);
  ASSERT_EQ(cut.memory.zones[0].free.size(), 11u);
  EXPECT_EQ(cut.memory.zones[0].free[10], 62u);
  EXPECT_EQ(find_number(cut.memory.zones[0].values, "managed"), 1507504u / 4);
}

TEST(OomReports, ListedSlabCachesAndTasksAreRead) {
  const SnapshotResult found = stock_of_log("5.15-journal.txt");
  ASSERT_EQ(found.caches.size(), 2u);
  EXPECT_EQ(found.caches[0].name, "kmalloc-256");
  EXPECT_EQ(found.caches[0].bytes, std::uint64_t{1100000} << 10);
  EXPECT_EQ(found.caches[0].free, std::uint64_t{100000} << 10);
  auto lines = lines_of(found);
  EXPECT_EQ(lines["slab.in-use"], std::int64_t{1009000} << 10);
  EXPECT_EQ(lines["slab.unlisted"], (308000 * 4 - 1109900) * std::int64_t{1024});
  const OomTask& task = found.memory.oom->tasks[1];
  EXPECT_EQ(task.pid, 812u);
  EXPECT_EQ(task.rss_pages, 450000u);
  EXPECT_EQ(task.swap_pages, 500000u);
  EXPECT_EQ(task.page_table_bytes, 4194304u);
  EXPECT_EQ(found.memory.unix_ns / 1'000'000'000, 1709283600u);  // 2024-03-01 09:00:00 UTC
}

TEST(OomReports, CallSitesAreRounded) {
  const SnapshotResult found = stock_of_log("6.12-arm64-16k.txt");
  ASSERT_EQ(found.memory.allocinfo.size(), 2u);
  EXPECT_TRUE(found.memory.allocinfo[1].approximate);
  EXPECT_EQ(found.memory.allocinfo[1].bytes, 12u * 1024 * 1024 + 512 * 1024);
  EXPECT_EQ(found.memory.allocinfo[1].of, "zram");
  EXPECT_EQ(found.memory.allocinfo[1].count, 3200u);
}

// Both reports of the log must be read. They have different numbers, texts and times.
TEST(OomReports, ALogMayHaveSeveralReports) {
  std::string second = log_text("6.12-arm64-16k.txt");
  const std::string first = second;
  for (std::size_t at = 0; (at = second.find("[  900.", at)) != std::string::npos; at += 7)
    second.replace(at, 7, "[  960.");
  second.replace(second.find("slab_unreclaimable:3000"), 23, "slab_unreclaimable:4000");
  const std::string log = first + second;
  const Copies copies = copies_in_file("log", bytes_of(log));
  ASSERT_EQ(copies.reports.size(), 2u);
  EXPECT_TRUE(copies.reports_have_times);
  EXPECT_EQ(copies.reports[1].ticks, 60'000'000'000u);
  EXPECT_FALSE(copies.state);
  EXPECT_EQ(lines_of(take_stock(parse_snapshot(copies.reports[0], 0)))["slab"], 4000 * 16384);
  EXPECT_EQ(lines_of(take_stock(parse_snapshot(copies.reports[1], 0)))["slab"], 5000 * 16384);
}

TEST(OomReports, KillsInsideACgroupWithoutItsMemoryAreNoReports) {
  const std::string log =
      "[1.0] a invoked oom-killer: gfp_mask=0xcc0, order=0, oom_score_adj=0\n"
      "[1.0] Memory cgroup out of memory: Killed process 7 (a) total-vm:1kB, anon-rss:1kB\n";
  EXPECT_TRUE(oom_reports(log).empty());
  try {
    copies_in_file("log", bytes_of(log));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("inside a memory cgroup"), std::string::npos);
  }
}

TEST(OomReports, WrappedLinesAreJoined) {
  constexpr const char* kLog =
      "> [  127.500000] hog invoked oom-killer: gfp_mask=0x14200ca(GFP_HIGHUSER_MOVABLE),\n> nodemask=(null), order=2\n"
      "> [  127.500100] CPU: 1 PID: 2091 Comm: hog Kdump: loaded Tainted: G  W  OE   \n> 4.14.0 #1\n"
      "> [  127.500200] Mem-Info:\n> [  127.500300] active_anon:2000 inactive_anon:0 isolated_anon:0\n"
      "> [  127.500310]  free:1000 free_pcp:0 free_cma:0\n"
      "> [  127.530260] DMA free:4000kB min:22528kB low:28160kB high:33792kB active_anon:8000kB\n> managed:16000kB\n"
      "> [  127.600000] [ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents\n> oom_score_adj name\n"
      "> [  127.700000] [ 2091]     0  2091     2819      589       6       3        0\n> -1000 hog\n";
  const auto reports = oom_reports(kLog);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].release, "4.14.0");
  EXPECT_EQ(reports[0].kill.order, 2u);
  EXPECT_EQ(total_bytes_of(reports[0]), 16000u * 1024);
  ASSERT_EQ(reports[0].kill.tasks.size(), 1u);
  EXPECT_EQ(reports[0].kill.tasks[0].name, "hog");
  EXPECT_EQ(reports[0].kill.tasks[0].rss_pages, 589u);
}

TEST(OomReports, ArmHadItsOwnWords) {
  constexpr const char* kLog =
      "Mem-info:\nNormal per-cpu:\nCPU    0: hi:   42, btch:   7 usd:   5\n"
      "active_anon:2000 inactive_anon:0 isolated_anon:0\n active_file:0 inactive_file:0 isolated_file:0\n"
      " unevictable:0 dirty:0\n free:100 slab_reclaimable:1 slab_unreclaimable:2\nNormal free:400kB min:2kB\nNormal: "
      "100*4kB = 400kB\n4096 pages of RAM\n120 free pages\n96 reserved pages\n";
  const auto reports = oom_reports(kLog);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(total_bytes_of(reports[0]), 4000u * 4096);
  auto lines = lines_of(stock_of_report(reports[0]));
  EXPECT_EQ(lines["free.cpu-lists"], 5 * 4096);
  EXPECT_EQ(lines["user.anonymous"], 2000 * 4096);
}

constexpr const char* kMemory = "Mem-Info:\nactive_anon:2000 inactive_anon:0 isolated_anon:0\n4096 pages RAM\n";

TEST(OomReports, OtherMessagesAreNoTasksAndNoSlabCaches) {
  const std::string log = std::string("a invoked oom-killer: order=0\n") + kMemory +
                          "Unreclaimable slab info:\nName  Used  Total\nkmalloc-96  480KB  512KB\n"
                          "audit: a lost 5KB 6KB\nTasks state (memory values in pages):\nnot-a-cache 1KB 2KB\n"
                          "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
                          "systemd[1]: Started Session 40\n[7] Started Session 40 of the user a b c\n"
                          "[    320]     0   320    20000      200    69632       30          -250 (sd-pam)\n"
                          "Out of memory: Killed process 320 ((sd-pam)) total-vm:1kB, anon-rss:1kB\n"
                          "[    321]     0   321    20000      200    69632       30          -250 later\n";
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports[0].slabs.size(), 1u);
  EXPECT_EQ(reports[0].slabs[0].name, "kmalloc-96");
  ASSERT_EQ(reports[0].kill.tasks.size(), 1u);
  EXPECT_EQ(reports[0].kill.tasks[0].pid, 320u);
  EXPECT_EQ(reports[0].kill.victim, "(sd-pam)");
  EXPECT_TRUE(reports[0].text.ends_with("anon-rss:1kB\n"));
}

TEST(OomReports, AKillInsideACgroupDoesNotBeginTheNextReport) {
  const std::string log = std::string("a invoked oom-killer: order=0\nMemory cgroup stats for /x: cache:0KB\n") +
                          "Memory cgroup out of memory: Killed process 7 (a) total-vm:1kB\n" + kMemory;
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kill.invoked_by, "");
  EXPECT_TRUE(reports[0].text.starts_with("Mem-Info:"));
}

TEST(OomReports, AreLimited) {
  std::string log = kMemory;
  log += "[ pid ]   uid  tgid total_vm      rss name\n";
  const std::string name(1000, 'x');
  for (int i = 0; i < 18'000; ++i) log += "[ 1] 0 1 1 1 " + name + "\n";
  const auto large = oom_reports(log);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_TRUE(large[0].is_cut);
  EXPECT_LE(large[0].text.size(), 16u << 20);
  EXPECT_NE(text_of(sample_of(large[0]), "missing").find("log\t"), std::string_view::npos);

  log.clear();
  for (int i = 0; i < 4100; ++i) log += kMemory;
  log += "Free swap  = 7kB\n";
  std::size_t dropped = 0;
  const auto many = oom_reports(log, &dropped);
  EXPECT_EQ(many.size(), 4096u);
  EXPECT_EQ(dropped, 4u);
  EXPECT_TRUE(many.back().lines.contains("Free swap"));
  EXPECT_FALSE(many.back().is_cut);
}

TEST(OomReports, ManyOtherMessagesAfterAReportAreNotKept) {
  std::string log = kMemory;
  for (int i = 0; i < 18'000; ++i) log += "other " + std::string(1000, 'x') + "\n";
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].is_cut);
  EXPECT_EQ(reports[0].text, kMemory);
}

TEST(KernelLogs, PrefixesAreRemoved) {
  constexpr std::array kLines = {"[  127.500000] Node 0 x",
                                 "<4>[  127.500000][    T1] Node 0 x",
                                 "[Fri Mar  1 10:00:00 2024] Node 0 x",
                                 "Mar  1 10:00:00 host kernel: [  127.500000] Node 0 x",
                                 "2024-03-01T10:00:00.5+00:00 host kernel: Node 0 x",
                                 "> > [  127.500000] Node 0 x",
                                 "kern  :warn  : [  127.500000] Node 0 x",
                                 "Fri Mar  1 10:00:00 2024 kern.warn kernel: [  127.500000] Node 0 x",
                                 "\x1b[31mNode 0 x\x1b[0m\r",
                                 R"({"__REALTIME_TIMESTAMP":"1709287200000000","MESSAGE":"Node 0 x"})",
                                 "4,1006,127500000,-;Node 0 x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:1f.0",
                                 "4,1006,127500000,-,caller=T100;Node 0 x",
                                 "[Mar 1 10:00] Node 0 x",
                                 "[Mar12 10:00] Node 0 x",
                                 "[  +0.000012] Node 0 x",
                                 "[  127.500000 <    0.000012>] Node 0 x",
                                 "[Fri Mar  1 10:00:00 2024 <    0.000012>] Node 0 x",
                                 "[<    0.000012>] Node 0 x",
                                 "[  127.500000]Node 0 x",
                                 "[  127.50][ T100] Node 0 x",
                                 "<4>[  127.500000][   C1]Node 0 x",
                                 "> <4>[  127.500000] Node 0 x",
                                 ">[  127.500000] Node 0 x",
                                 "Fri 2024-03-01 10:00:00 UTC host kernel: Node 0 x",
                                 "1709287200.123456 host kernel: Node 0 x",
                                 "[  127.500000] host kernel: Node 0 x",
                                 "<4>Mar  1 10:00:00 host kernel: Node 0 x",
                                 "<4>1 2024-03-01T10:00:00.5Z host kernel - - - Node 0 x",
                                 "<4>1 2024-03-01T10:00:00Z host kernel - - [timeQuality tzKnown=\"1\"] Node 0 x",
                                 "2024-03-01T10:00:00,123456+01:00 Node 0 x",
                                 "daemon:info  : [  127.500000] Node 0 x",
                                 "console-3 | [  127.500000] Node 0 x",
                                 "[2-3219.1870] c0 [  127.500000] Node 0 x",
                                 "{\n   \"dmesg\": [\n {\n\"pri\": 4,\n\"time\": 127.5,\n\"msg\": \"Node 0 x\"",
                                 "_HOSTNAME=h\n__REALTIME_TIMESTAMP=1709287200000000\nMESSAGE=Node 0 x\nPRIORITY=4",
                                 "Node 0 x"};
  for (const char* const line : kLines) {
    std::string text;
    each_log_message(line, [&](const LogMessage& message) {
      if (!message.text.ends_with('{') && !message.text.ends_with('[')) text += message.text;
    });
    EXPECT_EQ(text, "Node 0 x") << line;
  }
}

TEST(KernelLogs, TimesAreRead) {
  const auto message_in = [](const char* line) {
    LogMessage found;
    each_log_message(line, [&](const LogMessage& message) { found = message; });
    return found;
  };
  EXPECT_EQ(message_in("[  127.5] x").boot_ns, 127'500'000'000u);
  EXPECT_EQ(message_in("[Fri Mar  1 10:00:00 2024] x").wall_ns, 1709287200'000'000'000u);
  EXPECT_EQ(message_in("2024-03-01T11:00:00+0100 host kernel: x").wall_ns, 1709287200'000'000'000u);
  for (const char* const line : {"2024-03-01T15:30:00+05:30 h kernel: x", "2024-03-01T15:30:00+0530 h kernel: x",
                                 "2024-03-01T15:00:00+05 h kernel: x", "2024-03-01T06:30:00-03:30 h kernel: x"})
    EXPECT_EQ(message_in(line).wall_ns, 1709287200'000'000'000u) << line;
  EXPECT_FALSE(message_in("Mar  1 10:00:00 host kernel: x").has_year);
  EXPECT_EQ(message_in("4,1006,127500000,-,caller=T100;x").boot_ns, 127'500'000'000u);
  EXPECT_EQ(message_in("[  127.500000 <    0.000012>] x").boot_ns, 127'500'000'000u);
  EXPECT_EQ(message_in("1709287200.5 host kernel: x").wall_ns, 1709287200'500'000'000u);
  const auto minute = message_in("[Mar 1 10:00] x").wall_ns;
  EXPECT_EQ(message_in("[Mar 1 10:00] x\n[  +1.5] y\n[ +10.5] z").wall_ns, minute.value_or(0) + 12'000'000'000u);
  EXPECT_EQ(message_in(R"({"__REALTIME_TIMESTAMP":"1709287200000000","MESSAGE":"x"})").wall_ns,
            1709287200'000'000'000u);
}

// The binary form of a message of several lines in `journalctl -o export`.
TEST(KernelLogs, MessagesOfSeveralLinesAreRead) {
  using namespace std::string_literals;
  const std::string log = "__MONOTONIC_TIMESTAMP=127500000\nMESSAGE\n\x05\0\0\0\0\0\0\0a\n b \nPRIORITY=4\n"s;
  std::string text;
  each_log_message(log, [&](const LogMessage& message) {
    text.append(message.text).append("|");
    EXPECT_EQ(message.boot_ns, 127'500'000'000u);
  });
  EXPECT_EQ(text, "a|b|");
}

TEST(KernelLogs, CallersAreRead) {
  std::string callers;
  each_log_message("[  1.500000][ T100] x\n[  1.500000][   C1] x\n4,1,5,-,caller=T7;x\n[  2.5] x",
                   [&](const LogMessage& message) { callers.append(message.caller).append("|"); });
  EXPECT_EQ(callers, "T100|C1|T7||");
}

constexpr const char* kNodeAndZone =
    "Node 0 active_anon:8000kB inactive_anon:400kB active_file:40kB inactive_file:80kB unevictable:4kB "
    "isolated(anon):0kB isolated(file):0kB mapped:12kB shmem:16kB kernel_stack:32kB all_unreclaimable? no\n"
    "Node 0 Normal free:4000kB min:40kB present:16384kB managed:16000kB free_pcp:8kB\n"
    "30 total pagecache pages\n0 pages in swap cache\n4096 pages RAM\n96 pages reserved\n";

TEST(OomReports, ALostLineIsReadFromNodesAndElseUnknown) {
  const std::string log =
      std::string("Mem-Info:\n slab_reclaimable:5 slab_unreclaimable:6\n free:1000\n") + kNodeAndZone;
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  const SnapshotResult found = stock_of_report(reports[0]);
  auto lines = lines_of(found);
  EXPECT_EQ(lines["user.page-cache"], (30 - 4) * 4096);
  EXPECT_EQ(lines["user.anonymous"], (8000 + 400 + 40 + 80 + 4 - 16) * 1024 - (30 - 4) * 4096);
  EXPECT_EQ(lines["slab"], 11 * 4096);
  EXPECT_FALSE(lines.contains("page-tables.processes"));

  const auto without_nodes =
      oom_reports("Mem-Info:\n slab_reclaimable:5\n free:1000\n4096 pages RAM\n96 pages reserved\n");
  ASSERT_EQ(without_nodes.size(), 1u);
  const SnapshotResult few = stock_of_report(without_nodes[0]);
  lines = lines_of(few);
  for (const char* const id : {"user.anonymous", "user.page-cache", "slab", "kernel-stacks", "others.bounce"})
    EXPECT_FALSE(lines.contains(id)) << id;
  EXPECT_FALSE(lines.contains("unaccounted")) << "it would include user memory";
}

TEST(OomReports, NumbersOfOtherMessagesAreNotTaken) {
  const std::string log =
      std::string("Mem-Info:\neth0: active_anon:9 free:7 shmem:3\ncache slab_unreclaimable:9 is low\n") +
      "active_anon:2000 inactive_anon:100 isolated_anon:0\nmydrv: 77 pages reserved\n" +
      "zram0: 5 pages RAM\nfree: 5 objects\n active_file:10 inactive_file:20 isolated_file:0\n" +
      "mydrv free:5kB min:6kB\n free:1000 free_pcp:2 free_cma:0\n" + kNodeAndZone;
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].totals.at("active_anon"), 2000u);
  EXPECT_EQ(reports[0].totals.at("free"), 1000u);
  EXPECT_FALSE(reports[0].totals.contains("slab_unreclaimable"));
  EXPECT_FALSE(reports[0].totals.contains("shmem"));
  EXPECT_EQ(total_bytes_of(reports[0]), 4000u * 4096);
  EXPECT_EQ(reports[0].zones.size(), 1u);
}

// A kernel without CONFIG_SWAP prints no line about swap. Its root file system may be unevictable page cache.
TEST(OomReports, UnevictablePageCacheIsNotAnonymous) {
  const std::string begin =
      "Mem-Info:\nactive_anon:200 inactive_anon:100 isolated_anon:0\n active_file:30 inactive_file:20 isolated_file:0\n"
      " unevictable:700 dirty:1 writeback:0\n slab_reclaimable:50 slab_unreclaimable:60\n mapped:5 shmem:4 "
      "pagetables:7\n"
      " free:500 free_pcp:3 free_cma:0\n754 total pagecache pages\n";
  const std::string end = "4096 pages RAM\n96 pages reserved\n";
  auto lines = lines_of(stock_of_report(oom_reports(begin + end).at(0)));
  EXPECT_EQ(lines["user.anonymous"], 296 * 4096);
  EXPECT_EQ(lines["user.page-cache"], 750 * 4096);
  EXPECT_FALSE(lines.contains("user.unevictable"));
  // The line about the swap cache is lost, so the kind of the unevictable pages is unknown.
  lines = lines_of(stock_of_report(oom_reports(begin + "Free swap  = 4kB\n" + end).at(0)));
  EXPECT_EQ(lines["user.anonymous"], 296 * 4096);
  EXPECT_EQ(lines["user.page-cache"], 50 * 4096);
  EXPECT_EQ(lines["user.unevictable"], 700 * 4096);
}

TEST(OomReports, OldKernelsHadFewerCounters) {
  const auto reports = oom_reports(
      "Mem-Info:\nDMA per-cpu:\nCPU    0: hi:    0, btch:   1 usd:   0\n"
      "Active_anon:2000 active_file:30 inactive_anon:100\n inactive_file:20 unevictable:2 dirty:1 writeback:0 "
      "unstable:0\n"
      " free:500 slab:40 mapped:26 pagetables:9 bounce:0\n4096 pages RAM\n96 pages reserved\n60 total pagecache pages\n"
      "Mem-info:\nActive:2000 inactive:100 dirty:0 writeback:0 unstable:0\n free:500 slab:40 mapped:12 pagetables:9 "
      "bounce:0\n60 total pagecache pages\n4096 pages of RAM\n96 reserved pages\n4 pages swap cached\n");
  ASSERT_EQ(reports.size(), 2u);
  auto lines = lines_of(stock_of_report(reports[0]));
  EXPECT_EQ(lines["user.anonymous"], 2100 * 4096);
  EXPECT_EQ(lines["user.page-cache"], 50 * 4096);
  EXPECT_EQ(lines["user.unevictable"], 2 * 4096);
  EXPECT_EQ(lines["slab"], 40 * 4096);
  EXPECT_FALSE(lines.contains("user.shmem"));
  EXPECT_FALSE(lines.contains("kernel-stacks"));
  lines = lines_of(stock_of_report(reports[1]));
  EXPECT_EQ(lines["user.anonymous"], (2100 - 56) * 4096);
  EXPECT_EQ(lines["user.page-cache"], 56 * 4096);
}

TEST(OomReports, CallersTellInterleavedReportsApart) {
  std::string log;
  const auto add = [&log](const std::string& a, const std::string& b) {
    log += "[    1.500000][ T100] " + a + "\n[    1.500000][ T200] " + b + "\n";
  };
  add("a invoked oom-killer: order=0", "b: page allocation failure: order:3, mode:0x1");
  add("Mem-Info:", "Mem-Info:");
  add("active_anon:2000 inactive_anon:1 isolated_anon:0", "active_anon:3000 inactive_anon:2 isolated_anon:0");
  add(" free:100 free_pcp:0", " free:200 free_pcp:0");
  add("4096 pages RAM", "4096 pages RAM");
  add("96 pages reserved", "96 pages reserved");
  const auto reports = oom_reports(log);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].kill.invoked_by, "a");
  EXPECT_EQ(reports[0].totals.at("free"), 100u);
  EXPECT_EQ(reports[0].lines.at("pages RAM"), 4096u);
  EXPECT_EQ(reports[1].kill.invoked_by, "b");
  EXPECT_EQ(reports[1].totals.at("active_anon"), 3000u);
  EXPECT_EQ(reports[1].lines.at("pages reserved"), 96u);
}

// Linux 7.3 also reports the failed allocation of the process that it has just killed.
TEST(OomReports, AFailureOfTheKilledProcessIsNotUsed) {
  const std::string memory =
      "Mem-Info:\nactive_anon:37136 inactive_anon:0 isolated_anon:0\n slab_reclaimable:254 slab_unreclaimable:74045\n"
      " free:533 free_pcp:1645 free_cma:0\n";
  const std::string sizes = "130942 pages RAM\n0 pages HighMem/MovableOnly\n13746 pages reserved\n";
  const auto reports_of = [&](const std::string& failed, const std::string& when, const std::string& caller = "") {
    std::string log;
    const auto add = [&log](const std::string& time, const std::string& text) {
      for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        log += "[   " + time + "] " + text.substr(at, end - at) + "\n";
      }
    };
    add("22.017266", "dd invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n" +
                         memory + sizes +
                         "Out of memory: Killed process 119 (dd) total-vm:432348kB, anon-rss:65024kB\n");
    add(when,
        failed + ": page allocation failure: order:0, mode:0x140dca(GFP_HIGHUSER_MOVABLE)\n" + caller + memory + sizes);
    return copies_in_file("dmesg", bytes_of(log));
  };
  const Copies copies = reports_of("dd", "22.037350");
  ASSERT_EQ(copies.reports.size(), 1u);
  EXPECT_EQ(copies.reports_of_killed, 1u);
  EXPECT_EQ(parse_snapshot(copies.reports[0], 0).oom->victim, "dd");
  EXPECT_EQ(reports_of("sh", "22.037350").reports.size(), 2u) << "another process";
  EXPECT_EQ(reports_of("dd", "92.037350").reports.size(), 2u) << "much later";
  EXPECT_EQ(reports_of("dd", "22.037350", "CPU: 1 UID: 0 PID: 119 Comm: dd Not tainted 7.3.0 #1\n").reports.size(), 1u);
  EXPECT_EQ(reports_of("dd", "22.037350", "CPU: 1 UID: 0 PID: 120 Comm: dd Not tainted 7.3.0 #1\n").reports.size(), 2u)
      << "another process of the same name";
  EXPECT_EQ(reports_of("dd", "22.037350", "Pid: 120, comm: dd Not tainted 2.6.32-1 #1\n").reports.size(), 2u);
}

// The log ends before the line of the second killed process.
TEST(OomReports, ACutReportOfTheKilledProcessIsUsed) {
  const auto report = [](const std::string& time, const std::string& free) {
    std::string text;
    for (const std::string& line :
         {std::string("dd invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0"),
          std::string("Mem-Info:"), std::string("active_anon:37136 inactive_anon:0 isolated_anon:0"),
          " free:" + free + " free_pcp:1645 free_cma:0", std::string("130942 pages RAM"),
          std::string("13746 pages reserved")})
      text.append("[   ").append(time).append("] ").append(line).append("\n");
    return text;
  };
  const std::string killed =
      "[   22.017266] Out of memory: Killed process 119 (dd) total-vm:432348kB, anon-rss:65024kB\n";
  const Copies copies =
      copies_in_file("dmesg", bytes_of(report("22.017266", "533") + killed + report("24.500000", "421")));
  ASSERT_EQ(copies.reports.size(), 2u);
  EXPECT_EQ(copies.reports_of_killed, 0u);
  EXPECT_EQ(number_or_0(parse_snapshot(copies.reports[1], 0).meminfo, "MemFree"), 421u * 4096);
}

TEST(OomReports, ACutCompressedLogIsReadUpToTheCut) {
  std::string packed = gzip(log_text("5.15-journal.txt") + std::string(1000, '\n'));
  packed.resize(packed.size() - 12);
  const Copies copies = copies_in_file("dmesg.gz", bytes_of(packed));
  ASSERT_EQ(copies.reports.size(), 1u);
  EXPECT_FALSE(copies.damage.empty());
  EXPECT_EQ(lines_of(take_stock(parse_snapshot(copies.reports[0], 0)))["slab"], 1261568000);
}

}  // namespace
}  // namespace kmt
