// SPDX-License-Identifier: GPL-2.0-or-later
// Tests copies of kernel files that lack lines or columns, that exist twice, or that lack the files with the page size.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/repeated_copy.hpp"

namespace kmt {
namespace {

const std::string kMeminfo =
    "MemTotal: 100000 kB\nMemFree: 50000 kB\nBuffers: 10 kB\nCached: 2000 kB\nSwapCached: 0 kB\nAnonPages: 3000 kB\n"
    "Shmem: 500 kB\nSlab: 4000 kB\nSReclaimable: 80 kB\nKernelStack: 64 kB\nPageTables: 100 kB\nVmallocUsed: 200 kB\n"
    "Percpu: 300 kB\n";
const std::string kHeader =
    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";
const std::string kDentry = "dentry 20 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n";
const std::string kOldest = "kmem_cache 10 16 256 16 1 : tunables 0 0 0 : slabdata 1 1 0\n";

SnapshotResult stock_of(std::map<std::string, std::string> texts) {
  StateSample sample;
  for (auto& [name, text] : texts) sample.texts.emplace_back(name, text);
  return take_stock(parse_snapshot(sample, 0));
}

const BalanceLine* line_of(const SnapshotResult& result, const std::string& id) {
  const auto found = std::ranges::find(result.sheet, id, &BalanceLine::id);
  return found == result.sheet.end() ? nullptr : &*found;
}

bool lacks(const SnapshotResult& result, const std::string& name, const std::string& why) {
  return std::ranges::any_of(result.memory.missing, [&](const MissingSource& missing) {
    return missing.name == name && missing.why.find(why) != std::string::npos;
  });
}

TEST(PartialCopies, TheRestOfAnIncompleteSlabinfoIsNotKmalloc) {
  const SnapshotResult whole = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry + kOldest}});
  EXPECT_NE(line_of(whole, "slab.large"), nullptr);
  EXPECT_FALSE(lacks(whole, "partial", ""));
  for (const auto& [text, why] : {std::pair(kHeader + kDentry, "oldest cache"), std::pair(kDentry, "no header")}) {
    const SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"slabinfo", text}});
    EXPECT_EQ(line_of(found, "slab.large"), nullptr);
    ASSERT_NE(line_of(found, "slab.unlisted"), nullptr);
    EXPECT_NE(line_of(found, "slab.unlisted")->label.find("partial"), std::string::npos);
    EXPECT_TRUE(lacks(found, "partial", why));
  }
}

TEST(PartialCopies, SlabinfoWithoutColumnsIsNotUsed) {
  for (const std::string text : {"dentry 21 192\n", "# name <active_objs> <num_objs>\ndentry 20 21\n"}) {
    const SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"slabinfo", text}});
    EXPECT_TRUE(found.caches.empty());
    EXPECT_EQ(line_of(found, "slab")->bytes, 4000 * 1024);
    EXPECT_TRUE(lacks(found, "partial", "columns"));
  }
}

TEST(PartialCopies, VmallocinfoWithoutPagesIsNotUsed) {
  const SnapshotResult found =
      stock_of({{"meminfo", kMeminfo},
                {"vmallocinfo", "0x1000-0x6000 20480 load+0x1/0x2\n0x8000-0x9000 8192 fill+0x1/0x2 pag\n"}});
  EXPECT_TRUE(found.memory.vmalloc.empty());
  EXPECT_EQ(line_of(found, "vmalloc.callers"), nullptr);
  EXPECT_TRUE(lacks(found, "vmallocinfo", "cut before the number of pages"));
}

TEST(PartialCopies, PageSizeIsKnownWithoutVmstat) {
  const auto size_with = [](const char* name, const std::string& text) {
    return stock_of({{"meminfo", kMeminfo}, {name, text}}).memory.page_size;
  };
  EXPECT_EQ(size_with("slabinfo", kHeader + "dentry 300 341 192 341 1 : tunables 0 0 0 : slabdata 1 1 0\n" + kOldest),
            65536u);
  EXPECT_EQ(size_with("slabinfo", kHeader + kDentry + kOldest), 4096u);
  EXPECT_EQ(size_with("zoneinfo", "Node 0, zone Normal\n  pages free 3125\n        managed 6250\n"), 16384u);
  EXPECT_EQ(size_with("buddyinfo", "Node 0, zone Normal 781 0 0\n"), 65536u);
  EXPECT_EQ(size_with("buddyinfo", "Node 0, zone DMA 500 0 0\n"), 4096u);  // the other zones are missing
  EXPECT_EQ(size_with("vmallocinfo", "0x1-0x2 327680 load+0x1/0x2 pages=4 vmalloc\n"), 65536u);
}

// Even if the page size is wrong, no amount is below zero.
TEST(PartialCopies, ASlabWithoutRoomForItsObjectsHasNoWaste) {
  StateSample sample;
  sample.texts.emplace_back("meminfo", kMeminfo);
  sample.texts.emplace_back("slabinfo", kHeader + "dentry 300 341 192 341 1 : tunables 0 0 0 : slabdata 1 1 0\n");
  const SnapshotResult found = take_stock(parse_snapshot(sample, 4096));
  EXPECT_EQ(found.caches.at(0).tails, 0u);
}

TEST(PartialCopies, ListsOfCpusAreUnknownWithoutZoneinfo) {
  const SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"buddyinfo", "Node 0, zone Normal 12500 0 0\n"}});
  EXPECT_EQ(line_of(found, "free.cpu-lists"), nullptr);
  EXPECT_NE(line_of(found, "unaccounted")->source.find("zoneinfo is missing"), std::string::npos);
}

TEST(RepeatedCopies, OnlyTheLastWholeCopyIsUsed) {
  const RepeatedCopy twice = last_copy("meminfo", "MemTotal: 1 kB\nMemFree: 2 kB\nMemTotal: 1 kB\nMemFree: 3 kB\n");
  EXPECT_EQ(twice.copies, 2u);
  EXPECT_EQ(twice.text, "MemTotal: 1 kB\nMemFree: 3 kB\n");
  const RepeatedCopy cut = last_copy("vmstat", "a 1\nb 2\nc 3\na 4\nb 5\nc 6\na 7\n");
  EXPECT_EQ(cut.number, 2u);
  EXPECT_EQ(cut.text, "a 4\nb 5\nc 6\n");
  EXPECT_EQ(last_copy("buddyinfo", "Node 0, zone DMA 1 2\nNode 0, zone DMA32 3 4\n").copies, 1u);
  const std::string zones = "Node 0, zone DMA 1 2\nNode 0, zone DMA32 3 4\n";
  EXPECT_EQ(last_copy("buddyinfo", zones + zones).text, zones);
  EXPECT_EQ(last_copy("buddyinfo", "Node 0, zone DMA 1 2\nNode 0, zone DMA 1 2\n").copies, 1u);
  EXPECT_EQ(last_copy("vmallocinfo", "0x(ptrval)-0x(ptrval) 1 a\n0x(ptrval)-0x(ptrval) 2 b\n").copies, 1u);
  EXPECT_EQ(last_copy("uname", "Linux\nLinux\n").copies, 1u);
  EXPECT_EQ(last_copy("vmstat", "").copies, 1u);
}

TEST(RepeatedCopies, AreNamed) {
  const std::string text = "Sat Nov 28 11:00:00 UTC 2026\n" + kMeminfo + "Sat Nov 28 11:00:10 UTC 2026\n" + kMeminfo;
  const Copies copies = copies_in_file("log", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  ASSERT_TRUE(copies.state);
  const SnapshotResult found = take_stock(parse_snapshot(*copies.state, 0));
  EXPECT_EQ(found.total, 100000u * 1024);
  EXPECT_TRUE(lacks(found, "copies", "2 copies of meminfo: only copy 2"));
}

}  // namespace
}  // namespace kmt
