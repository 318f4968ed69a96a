// SPDX-License-Identifier: GPL-2.0-or-later
// Tests finding copies of kernel files in the archives and folders that support tools write.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "snapshot/archive.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/parse.hpp"

namespace kmt {
namespace {

const std::string kMeminfo =
    "MemTotal: 100000 kB\nMemFree: 50000 kB\nBuffers: 10 kB\nCached: 2000 kB\nAnonPages: 3000 kB\nShmem: 500 kB\n"
    "Slab: 400 kB\nKernelStack: 64 kB\nPageTables: 100 kB\nVmallocUsed: 200 kB\n";

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Returns a file of a tar archive (POSIX ustar).
std::string tar_member(const std::string& path, const std::string& content) {
  std::string header(512, '\0');
  header.replace(0, path.size(), path);
  header.replace(100, 7, "0000644");
  char size[12];
  std::snprintf(size, sizeof(size), "%011o", static_cast<unsigned>(content.size()));
  header.replace(124, 11, size);
  header.replace(136, 11, "00000000000");
  header[156] = '0';
  header.replace(257, 8, std::string("ustar\00000", 8));
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char check[8];
  std::snprintf(check, sizeof(check), "%06o", sum);
  header.replace(148, 7, std::string(check, 7));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string tar_of(const std::string& members) { return members + std::string(1024, '\0'); }

// Returns a report of the kernel's log. The report has this number of free pages, and each line has the prefix.
std::string report(std::string_view prefix, unsigned free) {
  std::string text;
  each_line(fmt::format("Mem-Info:\nactive_anon:2000 inactive_anon:0 isolated_anon:0\n free:{0} slab_reclaimable:1\n"
                        "Node 0 Normal free:{0}kB min:2kB present:9000kB managed:8000kB\n4096 pages RAM\n"
                        "96 pages reserved\n",
                        free),
            [&](std::string_view line) { text.append(prefix).append(line).append("\n"); });
  return text;
}

TEST(Copies, OnlyWantedFilesOfAnArchiveAreRead) {
  const std::string tar = tar_of(tar_member("sos/etc/shadow", "secret") + tar_member("sos/proc/meminfo", kMeminfo) +
                                 tar_member("sos/proc/uptime", "12.5 1\n") +
                                 tar_member("sos/sos_commands/kernel/uname_-a", "Linux h 6.1.0 x86_64\n"));
  ASSERT_TRUE(is_archive(bytes_of(tar)));
  const Copies copies = copies_in_file("sos.tar", bytes_of(tar));
  ASSERT_TRUE(copies.state);
  EXPECT_EQ(copies.files, (std::vector<std::string>{"sos/proc/meminfo", "sos/sos_commands/kernel/uname_-a"}));
  EXPECT_EQ(copies.uptime_ns, 12'500'000'000u);
  EXPECT_TRUE(copies.damage.empty());
  const SnapshotResult found = take_stock(parse_snapshot(*copies.state, 0));
  EXPECT_EQ(found.total, 100000u * 1024);
  EXPECT_EQ(found.memory.release, "6.1.0");
}

// sosreport copies the meminfo of each NUMA node. With one node, it only repeats /proc/meminfo.
TEST(Copies, NodesAreReadInTheOrderOfTheirNumbers) {
  const auto node = [](int number) {
    return tar_member(fmt::format("sos/sys/devices/system/node/node{}/meminfo", number),
                      fmt::format("Node {} MemTotal: 7 kB", number));
  };
  const std::string meminfo = tar_member("sos/proc/meminfo", kMeminfo);
  const Copies two = copies_in_file("sos.tar", bytes_of(tar_of(node(10) + meminfo + node(2))));
  ASSERT_TRUE(two.state);
  EXPECT_EQ(text_of(*two.state, "node_meminfo"), "Node 2 MemTotal: 7 kB\nNode 10 MemTotal: 7 kB\n");
  EXPECT_EQ(two.files.size(), 3u);
  const Copies one = copies_in_file("sos.tar", bytes_of(tar_of(meminfo + node(0))));
  ASSERT_TRUE(one.state);
  EXPECT_EQ(text_of(*one.state, "node_meminfo"), "");
}

TEST(Copies, MayBeOutsideOfProc) {
  const std::string tar = tar_of(tar_member("copied/meminfo", kMeminfo) + tar_member("copied/uptime", "60.5 1\n") +
                                 tar_member("copied/uname", "Linux h 6.1.0 x86_64\n"));
  const Copies copies = copies_in_file("copied.tar", bytes_of(tar));
  EXPECT_EQ(copies.files, (std::vector<std::string>{"copied/meminfo", "copied/uname"}));
  EXPECT_EQ(copies.uptime_ns, 60'500'000'000u);
  // The output of the program uptime shows no time since boot in seconds.
  const std::string other =
      tar_of(tar_member("sos/proc/meminfo", kMeminfo) + tar_member("sos/uptime", " 10:00:00 up 1 day"));
  EXPECT_EQ(copies_in_file("sos.tar", bytes_of(other)).uptime_ns, 0u);
}

TEST(Copies, ArchivesInsideAnArchiveAreRead) {
  std::string tar = tar_of(tar_member("h/proc/meminfo", kMeminfo) + tar_member("h/proc/uptime", "12.5 1\n"));
  for (const char* const name : {"sos.tar", "a/sos.tar"}) {
    tar = tar_of(tar_member("readme", "text") + tar_member(name, tar));
    const Copies copies = copies_in_file("x.tar", bytes_of(tar));
    ASSERT_TRUE(copies.state);
    EXPECT_EQ(copies.uptime_ns, 12'500'000'000u);
    EXPECT_TRUE(copies.files.front().ends_with("sos.tar/h/proc/meminfo")) << copies.files.front();
    EXPECT_EQ(copies.damage, "");
  }
  // An archive one level deeper is not read. The note names it.
  tar = tar_of(tar_member("b/sos.tar", tar) + tar_member("proc/meminfo", kMeminfo));
  const Copies copies = copies_in_file("x.tar", bytes_of(tar));
  EXPECT_EQ(copies.files, std::vector<std::string>{"proc/meminfo"});
  EXPECT_NE(copies.damage.find("b/sos.tar/a/sos.tar/sos.tar inside it was not read"), std::string::npos)
      << copies.damage;
}

TEST(Copies, PathsThatLeaveTheArchiveAreOnlyNames) {
  const std::string tar = tar_of(tar_member("../../../proc/meminfo", kMeminfo));
  const Copies copies = copies_in_file("x.tar", bytes_of(tar));
  EXPECT_EQ(copies.files, std::vector<std::string>{"../../../proc/meminfo"});
}

TEST(Copies, OfSeveralMachinesAreRefused) {
  const std::string tar = tar_of(tar_member("a/proc/meminfo", kMeminfo) + tar_member("b/proc/meminfo", kMeminfo));
  EXPECT_THROW(copies_in_file("x.tar", bytes_of(tar)), Error);
  // The files of a container are in a subfolder of those of the machine, and are ignored.
  const std::string inside = tar_of(tar_member("a/proc/meminfo", kMeminfo) + tar_member("a/c/proc/meminfo", kMeminfo));
  EXPECT_EQ(copies_in_file("x.tar", bytes_of(inside)).files, std::vector<std::string>{"a/proc/meminfo"});
}

TEST(Copies, AnArchiveThatIsCutOffIsExplained) {
  const std::string tar_xz(
      "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x1c\x00\x00\x00"
      "\x10\xcf\x58\xcc\xe0\x27\xff\x02\x21\x5d\x00\x38\x1c\x8a\x21\xa7\x40\xe5\x60\xf5",
      40);
  try {
    copies_in_file("x.tar.xz", bytes_of(tar_xz));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("it is cut off"), std::string::npos) << error.what();
  }
}

TEST(Copies, ADamagedArchiveGivesWhatIsIntact) {
  std::string tar = tar_member("a/proc/meminfo", kMeminfo) + tar_member("a/proc/slabinfo", std::string(5000, 'x'));
  tar.resize(tar.size() - 4000);
  const Copies copies = copies_in_file("x.tar", bytes_of(tar));
  ASSERT_TRUE(copies.state);
  EXPECT_FALSE(copies.damage.empty());
  EXPECT_TRUE(text_of(*copies.state, "slabinfo").empty());
}

TEST(Copies, ArchivesAreLimited) {
  const std::string tar = tar_of(tar_member("a", std::string(3000, 'x')) + tar_member("b", std::string(3000, 'y')));
  std::size_t read = 0;
  const auto read_with = [&](const ArchiveLimits& limits) {
    read = 0;
    return each_member(
        "x.tar", bytes_of(tar), limits, [](std::string_view) { return true; },
        [&](std::string_view, std::string&& text) { read += text.size(); });
  };
  EXPECT_TRUE(read_with({}).empty());
  EXPECT_EQ(read, 6000u);
  EXPECT_TRUE(read_with({.bytes_of_a_member = 100}).empty());
  EXPECT_EQ(read, 200u);
  EXPECT_FALSE(read_with({.bytes = 3500}).empty());
  EXPECT_EQ(read, 3500u);
  EXPECT_THROW(read_with({.members = 1}), Error);
  EXPECT_THROW(read_with({.unpacked_bytes = 1000}), Error);
}

TEST(Copies, TheUnwantedPartsOfAnArchiveAreLimitedToo) {
  const std::string tar = tar_of(tar_member("a", std::string(1 << 20, 'x')));
  for (const bool wants : {false, true})
    EXPECT_THROW(each_member(
                     "x.tar", bytes_of(tar), {.unpacked_bytes = 1 << 16}, [wants](std::string_view) { return wants; },
                     [](std::string_view, std::string&&) {}),
                 Error);
}

TEST(Copies, LargeFilesAreCutAtALineBreak) {
  std::string vmallocinfo;
  while (vmallocinfo.size() <= 16u << 20) vmallocinfo += "0x1-0x2 20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n";
  const std::string tar = tar_of(tar_member("proc/meminfo", kMeminfo) + tar_member("proc/vmallocinfo", vmallocinfo));
  const Copies copies = copies_in_file("x.tar", bytes_of(tar));
  ASSERT_TRUE(copies.state);
  const std::string_view text = text_of(*copies.state, "vmallocinfo");
  EXPECT_LE(text.size(), 16u << 20);
  EXPECT_TRUE(text.ends_with("N0=4\n"));
  EXPECT_NE(text_of(*copies.state, "missing")
                .find("vmallocinfo\tonly the first 16.0 MiB were read: the size limit was reached\t"),
            std::string_view::npos);
}

TEST(Copies, ReportsOfEarlierBootsAreNotUsed) {
  const auto report = [](const char* time) {
    std::string text;
    for (const char* const line :
         {"Mem-Info:", "active_anon:2000 inactive_anon:0 isolated_anon:0", " free:100 slab_reclaimable:1",
          "Node 0 Normal free:400kB min:2kB present:9000kB managed:8000kB", "4096 pages RAM", "96 pages reserved"})
      text += std::string("[") + time + "] " + line + "\n";
    return text;
  };
  const std::string log =
      report("100.000000") + "[    0.000000] Linux version 6.1.0 (x)\n" + report("200.000000") + report("260.000000");
  const Copies copies = copies_in_file("log", bytes_of(log));
  ASSERT_EQ(copies.reports.size(), 2u);
  EXPECT_EQ(copies.earlier_reports, 1u);
  EXPECT_EQ(copies.reports[1].ticks, 60'000'000'000u);
}

TEST(Copies, FoldersOfSupportToolsAreSearched) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "kmemtrace-copies";
  fs::remove_all(folder);
  fs::create_directories(folder / "data/root/proc");
  std::ofstream(folder / "data/root/proc/meminfo") << kMeminfo;
  const Copies copies = copies_in_folder(folder);
  EXPECT_EQ(copies.files, std::vector<std::string>{"data/root/proc/meminfo"});
  EXPECT_TRUE(copies.state);
  fs::remove_all(folder / "data");
  EXPECT_THROW(copies_in_folder(folder), Error);
  fs::remove_all(folder);
}

// An archive beside its unpacked files shows the same machine again.
TEST(Copies, ArchivesInAFolderAreReadIfNothingElseIsThere) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kmemtrace-archives-in-a-folder";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "unpacked" / "proc");
  std::ofstream(folder / "gathered.tar") << tar_of(tar_member("sos/proc/meminfo", kMeminfo));
  EXPECT_EQ(copies_in_folder(folder).files, (std::vector<std::string>{"gathered.tar/sos/proc/meminfo"}));
  std::ofstream(folder / "unpacked" / "proc" / "meminfo") << kMeminfo;
  EXPECT_EQ(copies_in_folder(folder).files, (std::vector<std::string>{"unpacked/proc/meminfo"}));
  std::filesystem::remove_all(folder);
}

// An editor may add carriage returns, a byte order mark and non-breaking blanks.
TEST(Copies, ChangesOfEditorsAreRemoved) {
  std::string meminfo = "\xef\xbb\xbf" + std::string(kMeminfo);
  for (std::size_t at = 0; (at = meminfo.find('\n', at)) != std::string::npos; at += 2) meminfo.insert(at, "\r");
  meminfo.replace(meminfo.find(' '), 1, "\xc2\xa0");
  const Copies copies = copies_in_file("meminfo", bytes_of(meminfo));
  ASSERT_TRUE(copies.state);
  EXPECT_TRUE(text_of(*copies.state, "meminfo").starts_with("MemTotal:"));
  EXPECT_EQ(text_of(*copies.state, "meminfo").find_first_of("\r\xc2\xa0"), std::string_view::npos);
}

// grep and cat -n write the name of the file and the number of the line before each line.
TEST(Copies, PrefixesOfGrepAreRemoved) {
  const std::string vmstat = "nr_free_pages 12500\nnr_slab_unreclaimable 50\n";
  for (const auto& [of_meminfo, of_vmstat] :
       {std::pair("{0}:", "{0}:"), std::pair("/proc/meminfo:", "/proc/vmstat:"), std::pair("     {0}\t", " {0}\t"),
        std::pair("meminfo:{0}:", "vmstat:{0}:")}) {
    std::string text;
    std::size_t number = 0;
    for (const auto& [prefix, lines] : {std::pair(of_meminfo, kMeminfo), std::pair(of_vmstat, vmstat)})
      each_line(lines, [&, form = prefix](std::string_view line) {
        text += fmt::format(fmt::runtime(form), ++number) + std::string(line) + "\n";
      });
    const Copies copies = copies_in_file("paste", bytes_of(text));
    ASSERT_TRUE(copies.state) << text;
    EXPECT_EQ(text_of(*copies.state, "meminfo"), kMeminfo);
    EXPECT_EQ(text_of(*copies.state, "vmstat"), vmstat);
  }
}

// tar appends a newer version of a file to the archive, and keeps the older one.
TEST(Copies, TheLastOfSeveralVersionsIsUsed) {
  const std::string old = "MemTotal: 100000 kB\nMemFree: 1 kB\n";
  const Copies copies = copies_in_file(
      "x.tar", bytes_of(tar_of(tar_member("h/proc/meminfo", old) + tar_member("h/proc/meminfo", kMeminfo))));
  ASSERT_TRUE(copies.state);
  EXPECT_EQ(text_of(*copies.state, "meminfo"), kMeminfo);
  EXPECT_NE(text_of(*copies.state, "missing").find("h/proc/meminfo is there more than once"), std::string_view::npos);
}

// Without a first message, a reboot shows in a time since boot that falls, or in a line that journalctl prints.
TEST(Copies, ARebootMayHaveNoFirstMessage) {
  const std::string first = "Mar 14 00:00:00 h kernel: ", second = "Mar 15 00:00:00 h kernel: ";
  for (const std::string& log :
       {report("[37000.000000] ", 100) + report("[38000.000000] ", 110) + report("[  900.000000] ", 200),
        report(first, 100) + "-- Boot 0123456789abcdef0123456789abcdef --\n" + report(second, 200),
        report(first, 100) + "-- Reboot --\n" + report(second, 200)}) {
    const Copies copies = copies_in_file("log", bytes_of(log));
    EXPECT_EQ(copies.reports.size(), 1u) << log;
    EXPECT_GE(copies.earlier_reports, 1u) << log;
  }
  // the older file of a rotated log is the second one, and has the start of the last boot
  const auto at = [](const char* day, const char* uptime) {
    return fmt::format("Mar {} 00:00:00 h kernel: [{}] ", day, uptime);
  };
  const std::string version = "Linux version 6.1.0 (x)\n";
  const Copies rotated =
      copies_in_file("log", bytes_of(report(at("14", "90000.000000"), 300) + at("12", "0.000000") + version +
                                     report(at("12", "7000.000000"), 100) + at("13", "0.000000") + version +
                                     report(at("13", "3600.000000"), 200)));
  EXPECT_EQ(rotated.reports.size(), 1u);
  EXPECT_EQ(rotated.earlier_reports, 2u);
  // journalctl and syslog print no year
  const Copies copies = copies_in_file(
      "log", bytes_of(report("Dec 31 23:00:00 h kernel: ", 100) + report("Jan 01 01:00:00 h kernel: ", 200)));
  ASSERT_EQ(copies.reports.size(), 2u);
  EXPECT_EQ(copies.reports[1].ticks, 7'200'000'000'000u);
}

TEST(Copies, LogsThatAreNotUsedAreNamed) {
  const std::string both = tar_member("h/messages", report("", 100) + report("", 200));
  const std::string other = tar_member("h/dmesg", report("", 300)), copy = tar_member("h/dmesg", report("", 200));
  for (const std::string& members : {both + other, other + both})
    EXPECT_EQ(copies_in_file("x.tar", bytes_of(tar_of(members))).other_logs, "h/dmesg");
  for (const std::string& members : {both + copy, copy + both})
    EXPECT_EQ(copies_in_file("x.tar", bytes_of(tar_of(members))).other_logs, "");
}

// A rotated log may have more reports than the current one.
TEST(Copies, TheLogWithTheLatestReportIsUsed) {
  const std::string current = tar_member("h/kern.log", report("Mar 14 00:00:00 h kernel: ", 300));
  const std::string older =
      tar_member("h/kern.log.1", report("Mar 12 00:00:00 h kernel: ", 100) + report("Mar 13 00:00:00 h kernel: ", 200));
  for (const std::string& members : {current + older, older + current}) {
    const Copies copies = copies_in_file("x.tar", bytes_of(tar_of(members)));
    EXPECT_EQ(copies.log, "h/kern.log");
    EXPECT_EQ(copies.other_logs, "h/kern.log.1");
  }
  // grep -H over both files, the newer one first
  const Copies both = copies_in_file("log", bytes_of(report("kern.log:Mar 14 00:00:00 h kernel: ", 300) +
                                                     report("kern.log.1:Mar 13 00:00:00 h kernel: ", 200)));
  ASSERT_EQ(both.reports.size(), 2u);
  EXPECT_EQ(both.reports[1].ticks, 86'400'000'000'000u);
}

TEST(Copies, AReportIsPreferredToMeminfo) {
  const std::string report =
      "Mem-Info:\nactive_anon:2000 inactive_anon:0 isolated_anon:0\n free:100 slab_reclaimable:1\n"
      "Node 0 Normal free:400kB min:2kB present:9000kB managed:8000kB\n4096 pages RAM\n96 pages reserved\n";
  const Copies copies = copies_in_file("x", bytes_of(kMeminfo + report));
  EXPECT_EQ(copies.reports.size(), 1u);
  EXPECT_NE(copies.damage.find("only the report is used"), std::string::npos);
}

TEST(Copies, TheReleaseMayBeInVersion) {
  const std::string tar = tar_of(tar_member("h/proc/meminfo", kMeminfo) +
                                 tar_member("h/proc/version", "Linux version 5.4.0-42-generic (b@x) #46\n"));
  const Copies copies = copies_in_file("x.tar", bytes_of(tar));
  ASSERT_TRUE(copies.state);
  EXPECT_EQ(parse_snapshot(*copies.state, 0).release, "5.4.0-42-generic");
  EXPECT_EQ(parse_snapshot(*copies.state, 0).host, "");
  EXPECT_EQ(copies.files, (std::vector<std::string>{"h/proc/meminfo", "h/proc/version"}));
}

}  // namespace
}  // namespace kmt
