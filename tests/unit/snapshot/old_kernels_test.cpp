// SPDX-License-Identifier: GPL-2.0-or-later
// Tests copies of kernel files from old kernels, and copies that other programs have changed.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "snapshot/parse.hpp"
#include "trace/state/slabinfo.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {
namespace {

const std::string kBeforePercpu =
    "MemTotal: 100000 kB\nMemFree: 0050000 kB\nBuffers: 10 kB\nCached: 2000 kB\nSwapCached: 0 kB\nAnonPages: 3000 kB\n"
    "Shmem: 500 kB\nSlab: 400 kB\nSReclaimable: 80 kB\nKernelStack: 64 kB\nPageTables: 100 kB\n";

SnapshotResult stock_of(std::map<std::string, std::string> texts) {
  StateSample sample;
  for (auto& [name, text] : texts) sample.texts.emplace_back(name, text);
  return take_stock(parse_snapshot(sample, 4096));
}

const BalanceLine* line_of(const SnapshotResult& result, const std::string& id) {
  const auto found = std::ranges::find(result.sheet, id, &BalanceLine::id);
  return found == result.sheet.end() ? nullptr : &*found;
}

constexpr const char* kAreas =
    "0xf0800000-0xf0802000    8192 take+0x1/0x2 pages=3 vmalloc\n"
    "0xf0900000-0xf0a00000 1048576 map+0x1/0x2 phys=10000000 ioremap\n";

// Before Linux 4.4, VmallocUsed is address space. From 4.4 to 5.2 it is 0.
TEST(OldKernels, VmallocUsedIsNotAlwaysMemory) {
  for (const char* const used :
       {"VmallocUsed: 90000 kB\nVmallocChunk: 700 kB\n", "VmallocUsed: 0 kB\nVmallocChunk: 0 kB\n"}) {
    SCOPED_TRACE(used);
    const SnapshotResult without = stock_of({{"meminfo", kBeforePercpu + used}});
    ASSERT_NE(line_of(without, "vmalloc"), nullptr);
    EXPECT_FALSE(line_of(without, "vmalloc")->known);
    EXPECT_EQ(line_of(without, "unaccounted")->bytes, (100000 - 50000 - 10 - 2000 - 3000 - 400 - 64 - 100) * 1024);
    EXPECT_NE(line_of(without, "unaccounted")->source.find("includes vmalloc, percpu"), std::string::npos);
    const SnapshotResult with = stock_of({{"meminfo", kBeforePercpu + used}, {"vmallocinfo", kAreas}});
    EXPECT_EQ(line_of(with, "vmalloc")->bytes, 3 * 4096);
    EXPECT_EQ(line_of(with, "vmalloc.rest"), nullptr);
  }
  const SnapshotResult by_release =
      stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 900 kB\n"}, {"uname", "Linux h 3.18.20 #1 armv7l\n"}});
  EXPECT_FALSE(line_of(by_release, "vmalloc")->known);
}

TEST(OldKernels, UnknownLinesAreNotCompared) {
  const SnapshotResult old = stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"}});
  const SnapshotResult newer = stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 200 kB\nPercpu: 300 kB\n"}});
  for (const BalanceChange& change : diff(old, newer).sheet) {
    if (change.line.id != "percpu") continue;
    EXPECT_FALSE(change.a);
    EXPECT_EQ(change.b, 300 * 1024);
  }
}

TEST(OldKernels, ContradictionsAreNamed) {
  const SnapshotResult found = stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 8 kB\n"}, {"vmallocinfo", kAreas}});
  ASSERT_TRUE(line_of(found, "vmalloc.rest")->is_contradiction());
  EXPECT_NE(text_snapshot(found, {}, {}).find("contradict each other: VmallocUsed - vmallocinfo: pages"),
            std::string::npos);
}

TEST(OldKernels, PaddedHashedAddressesAreSkipped) {
  const SnapshotResult found =
      stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"},
                {"vmallocinfo", "0x        (ptrval)-0x        (ptrval)    8192 take+0x1/0x2 pages=1 vmalloc\n"}});
  EXPECT_EQ(found.memory.unknown_lines, 0u);
  EXPECT_EQ(line_of(found, "vmalloc")->bytes, 4096);
}

TEST(OldKernels, SlabinfoHasSeveralVersions) {
  constexpr const char* kFirst =
      "slabinfo - version: 1.1 (statistics) (SMP)\nkmem_cache 68 68 232 4 4 1 : 68 4 0 0 0 : 252 126 : 1 2 3 4\n";
  constexpr const char* kSecond =
      "slabinfo - version: 2.0\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables "
      "<batchcount> <limit> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n"
      "kmem_cache 68 68 232 17 1 : tunables 120 60 8 : slabdata 4 4 0\n";
  constexpr const char* kStatistics =
      "slabinfo - version: 2.1 (statistics)\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : "
      "tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail> : globalstat "
      "<listallocs> <maxobjs> <grown> <reaped> <error> <maxfreeable> <nodeallocs> <remotefrees> <alienoverflow> : "
      "cpustat <allochit> <allocmiss> <freehit> <freemiss>\n"
      "kmem_cache 68 68 232 17 1 : tunables 120 60 8 : slabdata 4 4 0 : globalstat 70 68 4 0 0 0 0 0 0 : cpustat 1 2 3 "
      "4\n";
  for (const char* const text : {kFirst, kSecond, kStatistics}) {
    SCOPED_TRACE(text);
    const Slabinfo found = parse_slabinfo(text);
    EXPECT_TRUE(found.unknown.empty());
    ASSERT_EQ(found.caches.size(), 1u);
    EXPECT_EQ(found.caches[0].name, "kmem_cache");
    EXPECT_EQ(found.caches[0].objects, 68u);
    EXPECT_EQ(found.caches[0].object_bytes, 232u);
    EXPECT_EQ(found.caches[0].slabs, 4u);
    EXPECT_EQ(found.caches[0].pages_per_slab, 1u);
  }
}

// Text with the same two call sites, as changed by numfmt, column, awk and other tools.
TEST(ChangedCopies, AllocinfoMayHaveOtherColumns) {
  struct Case {
    const char* line;
    std::uint64_t bytes;
    bool approximate;
  };
  constexpr Case kCases[] = {{"  2936012   21007 fs/barn.c:615 [barn] func:new_node", 2936012, false},
                             {"2,936,012 21,007 fs/barn.c:615 [barn] func:new_node", 2936012, false},
                             {"2.8M 21007 fs/barn.c:615 [barn] func:new_node", 2936012, true},
                             {"2.8Mi 21007 fs/barn.c:615 [barn] func:new_node", 2936012, true},
                             {"2.8MiB 21007 fs/barn.c:615 [barn] func:new_node", 2936012, true},
                             {"2.80 MiB 21007 fs/barn.c:615 [barn] func:new_node", 2936012, true},
                             {"2936012 B 21007 fs/barn.c:615 [barn] func:new_node", 2936012, false},
                             {"fs/barn.c:615 func:new_node [barn] 2936012 21007", 2936012, false},
                             {"2936012,21007,fs/barn.c:615,[barn],func:new_node", 2936012, false},
                             {"| 2936012 | 21007 | fs/barn.c:615 | [barn] | func:new_node |", 2936012, false}};
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.line);
    const SnapshotResult found =
        stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"}, {"allocinfo", std::string(one.line) + "\n"}});
    EXPECT_EQ(found.memory.unknown_lines, 0u);
    ASSERT_EQ(found.memory.allocinfo.size(), 1u);
    const AllocationSite& site = found.memory.allocinfo[0];
    EXPECT_EQ(site.name, "fs/barn.c:615 new_node");
    EXPECT_EQ(site.of, "barn");
    EXPECT_EQ(site.count, 21007u);
    EXPECT_EQ(site.bytes, one.bytes);
    EXPECT_EQ(site.approximate, one.approximate);
    // "M" may mean 1000² or 1024², so a note must report the doubt.
    EXPECT_EQ(found.memory.missing.empty(), std::string_view(one.line).find("M ") == std::string_view::npos);
  }
}

const AllocationSite& site_in(const SnapshotResult& result, const std::string& name) {
  const auto found = std::ranges::find(result.memory.allocinfo, name, &AllocationSite::name);
  EXPECT_NE(found, result.memory.allocinfo.end()) << name;
  return *found;
}

SnapshotResult stock_of_sites(const std::string& allocinfo) {
  return stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"}, {"allocinfo", allocinfo}});
}

TEST(ChangedCopies, AllocinfoMayHaveTheCallsFirst) {
  const SnapshotResult found =
      stock_of_sites("256 4194304 mm/slub.c:1 func:a\n3 12288 a.c:2 func:b\n7 7 a.c:3 func:c\n");
  EXPECT_EQ(site_in(found, "mm/slub.c:1 a").bytes, 4194304u);
  EXPECT_EQ(site_in(found, "mm/slub.c:1 a").count, 256u);
  EXPECT_EQ(site_in(found, "a.c:3 c").bytes, 7u);
}

// `cat -n` writes the line number before each line. A loop around `date` and `cat` also leaves times in the text.
TEST(ChangedCopies, OtherNumbersAreNoAmountsOfAllocinfo) {
  const SnapshotResult found = stock_of_sites(
      "     3\t 8192 2 a.c:1 func:a\nSat Nov 28 17:00:00 UTC 2026\n 17:30:37 up 3 days, load average: 0.01, 0.02\n"
      "4096 1 a.c:2 func:b\n");
  ASSERT_EQ(found.memory.allocinfo.size(), 1u);
  EXPECT_EQ(site_in(found, "a.c:2 b").bytes, 4096u);
  EXPECT_EQ(found.memory.unknown_lines, 3u);
}

// numfmt --to=si writes "k"; numfmt --to=iec writes "K".
TEST(ChangedCopies, AllocinfoMayHaveDecimalCommas) {
  const auto bytes = [](const std::string& size) {
    return site_in(stock_of_sites(size + " 4 mm/slub.c:1 func:a\n5 1 a.c:2 func:b\n"), "mm/slub.c:1 a").bytes;
  };
  EXPECT_EQ(bytes("1,5M"), 3u << 19);
  EXPECT_EQ(bytes("256,00M"), 256u << 20);
  EXPECT_EQ(bytes("268.435.456"), 268435456u);
  EXPECT_EQ(bytes("268,435,456"), 268435456u);
}

TEST(ChangedCopies, AllocinfoMayBeSeparatedByCommas) {
  for (const char* const text :
       {"size,calls,tag\n4096,2,mm/slub.c:1 func:a\n", "\"4096\",\"2\",\"mm/slub.c:1 func:a\"\n",
        "4096;2;mm/slub.c:1 func:a\n", "#1 4096 2 mm/slub.c:1 func:a\n"}) {
    const AllocationSite site = site_in(stock_of_sites(text), "mm/slub.c:1 a");
    EXPECT_EQ(site.bytes, 4096u) << text;
    EXPECT_EQ(site.count, 2u) << text;
  }
}

TEST(ChangedCopies, TheTitleOfAllocinfoMayStateTheUnit) {
  for (const char* const title : {"# size(kB) calls tag\n", "size_KiB calls tag\n"}) {
    const SnapshotResult found = stock_of_sites(std::string(title) + "4096 2 mm/slub.c:1 func:a\n8B 1 b.c:2 func:b\n");
    EXPECT_EQ(site_in(found, "mm/slub.c:1 a").bytes, 4u << 20) << title;
    EXPECT_EQ(site_in(found, "b.c:2 b").bytes, 8u) << title;
    EXPECT_FALSE(found.memory.missing.empty());
  }
  EXPECT_EQ(site_in(stock_of_sites("#     <size>  <calls> <tag info>\n4096 2 a.c:1 func:a\n"), "a.c:1 a").bytes, 4096u);
}

TEST(ChangedCopies, JsonIsNotRead) {
  const SnapshotResult found = stock_of_sites(
      "[{\"size\": 0, \"calls\": 0, \"tag\": \"a.c:1 func:a\"}, {\"size\": 9, \"calls\": 1, \"tag\": \"b.c:1 "
      "func:b\"}]\n");
  EXPECT_TRUE(found.memory.allocinfo.empty());
  EXPECT_EQ(found.memory.unknown_lines, 1u);
}

// "12.50" without a unit may be any number of bytes.
TEST(ChangedCopies, FractionsWithoutUnitAreNotRead) {
  const SnapshotResult found = stock_of_sites("12.50 3 mm/slub.c:1 func:a\n4096 2 a.c:2 func:b\n");
  EXPECT_EQ(found.memory.allocinfo.size(), 1u);
  EXPECT_EQ(found.memory.unknown_lines, 1u);
}

TEST(ChangedCopies, AllocinfoMayHaveDecimalUnits) {
  EXPECT_EQ(site_in(stock_of_sites("33.6M 8192 a.c:1 func:a\n13k 3 a.c:2 func:b\n"), "a.c:1 a").bytes, 33600000u);
  EXPECT_EQ(site_in(stock_of_sites("32M 8192 a.c:1 func:a\n12K 3 a.c:2 func:b\n"), "a.c:1 a").bytes, 32u << 20);
  EXPECT_EQ(site_in(stock_of_sites("32Mi 8192 a.c:1 func:a\n12k 3 a.c:2 func:b\n"), "a.c:1 a").bytes, 32u << 20);
}

TEST(ChangedCopies, AmbiguousUnitsOfAllocinfoAreReported) {
  const auto is_ambiguous = [](const char* size) {
    return !stock_of_sites(std::string(size) + " 3 a.c:1 func:a\n").memory.missing.empty();
  };
  for (const char* const size : {"12M", "1.2G", "12K", "12MB"}) EXPECT_TRUE(is_ambiguous(size)) << size;
  for (const char* const size : {"12Mi", "12MiB", "12k", "12B", "12", "12k 5 a.c:2 func:b\n12M"})
    EXPECT_FALSE(is_ambiguous(size)) << size;
}

TEST(ChangedCopies, AllocinfoMayBeQuotedOrNumbered) {
  const std::string header = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n";
  const std::string sites = "        8192        2 a.c:1 func:a\n           4        1 a.c:2 func:b\n";
  const auto each = [&](const auto& prefix, const char* end) {
    std::string text;
    unsigned number = 0;
    const std::string all = header + sites;
    for (std::size_t at = 0, next = 0; (next = all.find('\n', at)) != std::string::npos; at = next + 1)
      text += prefix(++number) + all.substr(at, next - at) + end;
    return text;
  };
  for (const std::string& text : {each([](unsigned) { return "> "; }, "\n"), each([](unsigned) { return ""; }, "\r\n"),
                                  each([](unsigned n) { return "     " + std::to_string(n) + "\t"; }, "\n"),
                                  each([](unsigned n) { return std::to_string(n * n) + ":"; }, "\r\n")}) {
    const SnapshotResult found = stock_of_sites(text);
    EXPECT_EQ(found.memory.unknown_lines, 0u) << text;
    ASSERT_EQ(found.memory.allocinfo.size(), 2u) << text;
    EXPECT_EQ(site_in(found, "a.c:1 a").bytes, 8192u) << text;
    EXPECT_EQ(site_in(found, "a.c:1 a").count, 2u) << text;
    EXPECT_EQ(found.memory.allocinfo[0].others, "") << text;
  }
}

TEST(ChangedCopies, InaccurateSitesAreApproximate) {
  const SnapshotResult found = stock_of_sites("4096 1 a.c:1 func:a accurate:no\n4096 1 a.c:2 func:b\n");
  EXPECT_TRUE(site_in(found, "a.c:1 a").approximate);
  EXPECT_FALSE(site_in(found, "a.c:2 b").approximate);
}

TEST(ChangedCopies, MeminfoMayLackItsUnit) {
  std::string text = kBeforePercpu + "VmallocUsed: 0 kB\nHugePages_Total: 7\n";
  for (std::size_t at = 0; (at = text.find(" kB")) != std::string::npos;) text.erase(at, 3);
  const SnapshotResult found = stock_of({{"meminfo", text}});
  EXPECT_EQ(found.total, 100000u << 10);
  EXPECT_EQ(find_number(found.memory.meminfo, "HugePages_Total"), 7u);
}

TEST(ChangedCopies, SlabinfoMayBeIndented) {
  const Slabinfo found = parse_slabinfo(
      "   slabinfo - version: 2.1\n   # name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables "
      "<limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n"
      "   dentry 68 70 232 17 1 : tunables 120 60 8 : slabdata 4 4 0\n");
  EXPECT_TRUE(found.unknown.empty());
  ASSERT_EQ(found.caches.size(), 1u);
  EXPECT_EQ(found.caches[0].objects, 70u);
}

// SLAB has a cache for each size, so no kmalloc() is outside of slabinfo.
TEST(OldKernels, SlabHasNoLargeKmalloc) {
  const std::string meminfo = kBeforePercpu + "VmallocUsed: 0 kB\n";
  const auto cache = [](const char* name, int bytes) {
    return "slabinfo - version: 2.1\nkmem_cache 0 0 256 16 1 : tunables 0 0 0 : slabdata 0 0 0\n" + std::string(name) +
           " 1 1 " + std::to_string(bytes) + " 1 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  };
  for (const std::string& slabs : {cache("size-32", 32), cache("kmalloc-131072", 131072)}) {
    const SnapshotResult found = stock_of({{"meminfo", meminfo}, {"slabinfo", slabs}});
    EXPECT_NE(line_of(found, "slab.unlisted"), nullptr);
    EXPECT_EQ(line_of(found, "slab.large"), nullptr);
  }
  EXPECT_NE(line_of(stock_of({{"meminfo", meminfo}, {"slabinfo", cache("kmalloc-8k", 8192)}}), "slab.large"), nullptr);
}

TEST(NewKernels, SlabsOfCpusAreUnknownIfTheKernelAlwaysPrintsZero) {
  const auto attributes = [](const char* on_cpus) {
    return stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"},
                     {"slab", std::string("dentry/slabs:90\ndentry/slabs_cpu_partial:0(0)\ndentry/cpu_slabs:0\n") +
                                  "other/slabs:1\nother/slabs_cpu_partial:0(0)\nother/cpu_slabs:" + on_cpus + "\n"}})
        .memory.slab_attributes.at(0);
  };
  EXPECT_FALSE(attributes("0").cpu_slabs);
  EXPECT_FALSE(attributes("0").cpu_partial_slabs);
  EXPECT_EQ(attributes("1 N0=1").cpu_slabs, 0u);
  EXPECT_EQ(attributes("1 N0=1").cpu_partial_slabs, 0u);
}

TEST(NewKernels, TheReleaseShowsWhetherCpusHaveSlabs) {
  const auto attributes = [](const std::string& release) {
    return stock_of({{"meminfo", kBeforePercpu + "VmallocUsed: 0 kB\n"},
                     {"uname", "Linux host " + release + " #1 SMP x86_64 GNU/Linux\n"},
                     {"slab", "dentry/slabs:90\ndentry/slabs_cpu_partial:0(0)\ndentry/cpu_slabs:0\n"}})
        .memory.slab_attributes.at(0);
  };
  for (const char* const release : {"7.0.0", "7.2.12+deb13-cloud-amd64"}) {
    EXPECT_FALSE(attributes(release).cpu_slabs) << release;
    EXPECT_FALSE(attributes(release).cpu_partial_slabs) << release;
  }
  EXPECT_EQ(attributes("6.18.44").cpu_slabs, 0u);
  EXPECT_EQ(attributes("6.18.44").cpu_partial_slabs, 0u);
}

}  // namespace
}  // namespace kmt
