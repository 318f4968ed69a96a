// SPDX-License-Identifier: GPL-2.0-or-later
// Tests copies of kernel files that lack lines or columns, that exist twice, or that lack the files with the page size.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/parse.hpp"
#include "views/text/snapshot.hpp"

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

// The sums of zones are too small if zones are missing.
TEST(PartialCopies, MissingZonesDoNotChangeThePageSize) {
  const std::string half = "Node 0, zone Normal\n  pages free 6250\n        managed 12500\n";
  const std::string whole = half + "Node 1, zone Normal\n  pages free 6250\n        managed 12500\n";
  std::string slabs = kHeader;
  for (int i = 0; i < 20; ++i) slabs += "kmalloc-4k 8 8 4096 8 8 : tunables 0 0 0 : slabdata 1 1 0\n";
  const SnapshotResult by_slabs = stock_of({{"meminfo", kMeminfo}, {"zoneinfo", half}, {"slabinfo", slabs + kOldest}});
  EXPECT_EQ(by_slabs.memory.page_size, 4096u);
  EXPECT_TRUE(lacks(by_slabs, "zoneinfo", "less than MemTotal in meminfo: zones may be missing"));
  const std::string uname = "Linux host 6.1.0 #1 SMP x86_64 GNU/Linux\n";
  EXPECT_EQ(stock_of({{"meminfo", kMeminfo}, {"zoneinfo", half}, {"uname", uname}}).memory.page_size, 4096u);
  const SnapshotResult all = stock_of({{"meminfo", kMeminfo}, {"zoneinfo", whole}, {"uname", uname}});
  EXPECT_FALSE(lacks(all, "zoneinfo", ""));
  const SnapshotResult more = stock_of({{"meminfo", kMeminfo},
                                        {"zoneinfo", whole + "Node 2, zone Normal\n  pages free "
                                                             "0\n        managed 12500\n"},
                                        {"uname", uname}});
  EXPECT_TRUE(lacks(more, "zoneinfo", "more than MemTotal in meminfo"));
}

// The last number of a text without a line break at its end may lack digits.
TEST(PartialCopies, ACutLastLineIsNotUsed) {
  SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"vmstat", "nr_free_pages 12500\nnr_zspages 3"}});
  EXPECT_EQ(found.memory.vmstat.size(), 1u);
  EXPECT_TRUE(lacks(found, "vmstat", "last line may be cut off"));
  found = stock_of({{"meminfo", kMeminfo}, {"zoneinfo", "Node 0, zone Normal\n  pages free 12500\n        managed 2"}});
  EXPECT_EQ(find_number(found.memory.zones.at(0).values, "managed"), std::nullopt);
  found = stock_of({{"meminfo", kMeminfo},
                    {"vmallocinfo", "0x1-0x2 8192 load+0x1/0x2 pages=1 vmalloc\n0x3-0x4 40960 fill+0x1/0x2 pages=1"}});
  EXPECT_EQ(found.memory.vmalloc.size(), 1u);
  EXPECT_TRUE(lacks(found, "vmallocinfo", "last line may be cut off"));
  found = stock_of({{"meminfo", kMeminfo}, {"vmallocinfo", "0x1-0x2 8192 load+0x1/0x2 pages=1 vmalloc"}});
  EXPECT_EQ(found.memory.vmalloc.size(), 1u) << "the line has its end";
  const std::string zones = "Node 0, zone      DMA      1      2\nNode 0, zone   Normal     12     3";
  EXPECT_EQ(stock_of({{"meminfo", kMeminfo}, {"buddyinfo", zones}}).memory.zones.size(), 1u);
  EXPECT_EQ(stock_of({{"meminfo", kMeminfo}, {"buddyinfo", zones + "1"}}).memory.zones.size(), 2u);
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

// Copies of allocinfo without the header, sorted by different sizes.
TEST(RepeatedCopies, SitesOfAllocinfoOccurOncePerCopy) {
  const std::string first = "400 4 mm/a.c:1 func:a\n300 3 mm/b.c:2 func:b\n200 2 mm/c.c:3 func:c\n";
  const std::string second = "500 5 mm/d.c:4 func:d\n400 4 mm/b.c:2 func:b\n390 3 mm/a.c:1 func:a\n";
  EXPECT_EQ(last_copy("allocinfo", first + "\n" + second).text, second);
  EXPECT_EQ(last_copy("allocinfo", first + second).copies, 2u);
  EXPECT_EQ(last_copy("allocinfo", first + first + first).copies, 3u);
  const std::string headers = "8 1 include/x.h:9 func:x\n8 1 include/x.h:9 func:x\n8 1 mm/a.c:1 func:a\n";
  EXPECT_EQ(last_copy("allocinfo", headers + "9 1 include/x.h:9 func:x\n8 1 mm/a.c:1 func:a\n").copies, 1u);
  EXPECT_EQ(last_copy("allocinfo", first + "8 1 mm/c.c:3 [mod] func:c\n8 1 mm/a.c:1 [mod] func:a\n").copies, 1u);
}

// Several files in one text, with titles, prompts and marks of a quoted mail.
TEST(PastedCopies, FilesAreDistinguished) {
  const std::string slabs = kHeader + kDentry + kOldest;
  const std::string zones = "Node 0, zone   Normal\n  pages free     12500\n        managed  25000\n";
  const std::string free_blocks =
      "Node 0, zone   Normal     12     31      0      0      0      0      0      0      0      1      2\n";
  const std::string text = "Linux host 6.1.0 #1 SMP x86_64 GNU/Linux\n# cat /proc/slabinfo\n" + slabs +
                           "==> /proc/meminfo <==\n" + kMeminfo + "\n" + zones + free_blocks +
                           "nr_free_pages 12500\npgfault 17\nsockets: used 3\nTCP: inuse 1 mem 5\n" +
                           "0x1-0x2 8192 load+0x1/0x2 pages=1 vmalloc\n";
  std::string quoted;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
    quoted += "> " + text.substr(begin, text.find('\n', begin) + 1 - begin);
  for (const std::string& paste : {text, quoted}) {
    const Copies copies = copies_in_file("log", {reinterpret_cast<const std::uint8_t*>(paste.data()), paste.size()});
    ASSERT_TRUE(copies.state);
    const SnapshotResult found = take_stock(parse_snapshot(*copies.state, 0));
    EXPECT_EQ(found.total, 100000u * 1024);
    EXPECT_EQ(found.caches.size(), 2u);
    EXPECT_EQ(found.memory.release, "6.1.0");
    EXPECT_EQ(found.memory.unknown_lines, 0u);
    ASSERT_EQ(found.memory.zones.size(), 1u);
    EXPECT_EQ(find_number(found.memory.zones.at(0).values, "managed"), 25000u);
    EXPECT_EQ(found.memory.zones.at(0).free, (std::vector<std::uint64_t>{12, 31, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
    EXPECT_EQ(find_number(found.memory.vmstat, "pgfault"), 17u);
    EXPECT_EQ(find_number(found.memory.sockets, "TCP mem"), 5u);
    EXPECT_EQ(found.memory.vmalloc.size(), 1u);
  }
}

// Both tables of pagetypeinfo have lines like those of buddyinfo.
TEST(PastedCopies, PagetypeinfoIsNotBuddyinfo) {
  const std::string zones =
      "Node    0, zone   Normal     1     2     3     4     5     6     7     8     9    10    11\n";
  const std::string types =
      "Page block order: 9\nPages per block:  512\n\nFree pages count per migrate type at order       0      1\n"
      "Node    0, zone   Normal, type    Unmovable      3      4\n\n"
      "Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic          CMA      Isolate\n"
      "Node 0, zone   Normal          100          200          300            0            0            0\n";
  for (const std::string& text : {kMeminfo + zones + types, kMeminfo + types + zones}) {
    const Copies copies = copies_in_file("log", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    const SnapshotResult found = take_stock(parse_snapshot(*copies.state, 0));
    ASSERT_EQ(found.memory.zones.size(), 1u);
    EXPECT_EQ(found.memory.zones.at(0).free.size(), 11u);
    ASSERT_EQ(found.memory.free_by_type.size(), 1u);
    EXPECT_EQ(found.memory.free_by_type.at(0).free, (std::vector<std::uint64_t>{3, 4}));
  }
}

// If output is redirected, PowerShell writes UTF-16 with a byte order mark, and
// ends lines with CR LF.
TEST(ChangedCopies, TextMayBeUtf16) {
  const std::string plain = "MemTotal: 100 kB\r\nMemFree: 5 kB\r\n";
  for (const bool is_big_endian : {false, true}) {
    std::string text = is_big_endian ? "\xfe\xff" : "\xff\xfe";
    for (const char c : plain) text += is_big_endian ? std::string{'\0', c} : std::string{c, '\0'};
    remove_editors_changes(text);
    EXPECT_EQ(text, "MemTotal: 100 kB\nMemFree: 5 kB\n");
  }
}

TEST(PastedCopies, DiffsHaveTwoStates) {
  std::string unified =
      "--- a\n+++ b\n@@ -1,3 +1,3 @@\n 100 1 mm/a.c:1 func:a\n-200 1 mm/b.c:2 func:b\n"
      "+300 2 mm/b.c:2 func:b\n";
  EXPECT_NE(keep_second_state(unified), "");
  EXPECT_EQ(unified, "100 1 mm/a.c:1 func:a\n300 2 mm/b.c:2 func:b\n");
  std::string normal = "2c2\n< 200 1 mm/b.c:2 func:b\n---\n> 300 2 mm/b.c:2 func:b\n";
  EXPECT_NE(keep_second_state(normal), "");
  EXPECT_EQ(normal, "300 2 mm/b.c:2 func:b\n");
  for (std::string text : {kMeminfo, "> " + kMeminfo, kHeader + kDentry, std::string("- a list\n+ b\n")}) {
    const std::string before = text;
    EXPECT_EQ(keep_second_state(text), "");
    EXPECT_EQ(text, before);
  }
}

// A terminal of 80 columns cuts lines of buddyinfo after 8 orders.
TEST(PartialCopies, CutBuddyinfoIsNoFragmentation) {
  const auto judged = [](const std::string& blocks) {
    const SnapshotResult found =
        stock_of({{"meminfo", kMeminfo}, {"buddyinfo", "Node 0, zone Normal " + blocks + "\n"}});
    return std::pair(lacks(found, "buddyinfo", "cut before the last order"),
                     std::ranges::find(found.health, HealthTopic::fragmentation, &HealthCheck::topic)->health);
  };
  EXPECT_EQ(judged("100 50 0 0 0 0 0 0"), std::pair(true, Health::unknown));
  EXPECT_EQ(judged("100 50 0 0 0 0 0 97"), std::pair(false, Health::ok)) << "the blocks have all of MemFree";
  EXPECT_EQ(judged("12000 50 0 0 0 0 0 0 0 0 0"), std::pair(false, Health::ok)) << "it has all orders";
}

TEST(PartialCopies, SlabinfoMayHaveGaps) {
  for (const char* const gap : {"...\n", "[snip]\n", "--More--\n"}) {
    const SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry + gap + kOldest}});
    EXPECT_TRUE(lacks(found, "partial", "may lack caches")) << gap;
  }
  const std::string blanks =
      "slabinfo  -  version:  2.1\n#       name  <active_objs>  <num_objs>  <objsize>  <objperslab>  "
      "<pagesperslab>  :  tunables  <limit>  <batchcount>  <sharedfactor>  :  slabdata  "
      "<active_slabs>  <num_slabs>  <sharedavail>\n";
  EXPECT_FALSE(lacks(stock_of({{"meminfo", kMeminfo}, {"slabinfo", blanks + kOldest}}), "partial", ""));
}

// Returns the lines of this number of caches in slabinfo.
std::string caches(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "cache" + std::to_string(i) + " 20 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  return text;
}

// A user may have removed lines with `grep -v dentry`.
TEST(PartialCopies, SlabinfoMayLackUsualCaches) {
  const std::string inode = "inode_cache 20 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  const std::string kmalloc = "kmalloc-64 20 64 64 64 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  const std::string size = "size-64 20 59 64 59 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  const auto is_partial = [](const std::string& text) {
    return lacks(stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + text + kOldest}}), "partial", "each kernel");
  };
  EXPECT_FALSE(is_partial(caches(40) + kDentry + inode + kmalloc));
  EXPECT_FALSE(is_partial(caches(40) + kDentry + inode + size));
  EXPECT_TRUE(is_partial(caches(40) + inode + kmalloc));
  EXPECT_TRUE(is_partial(caches(40) + kDentry + kmalloc));
  EXPECT_TRUE(is_partial(caches(40) + kDentry + inode));
  EXPECT_FALSE(is_partial(caches(10)));  // so few caches are an artificial example
}

TEST(PartialCopies, CachesAreComparedWithReclaimableMemory) {
  std::string meminfo = kMeminfo;
  meminfo.replace(meminfo.find("SReclaimable: 80 kB"), 19, "SReclaimable: 3000 kB");
  const SnapshotResult found = stock_of({{"meminfo", meminfo}, {"slabinfo", kHeader + kDentry + kOldest}});
  EXPECT_TRUE(lacks(found, "partial", "less than SReclaimable"));
}

TEST(PartialCopies, RepeatedLinesOfSlabinfoCountOnce) {
  const SnapshotResult found = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry + kDentry + kOldest}});
  EXPECT_EQ(found.caches.size(), 2u);
  EXPECT_TRUE(lacks(found, "slabinfo", "twice with the same numbers, such as that of dentry"));
  const std::string other = "dentry 11 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  const SnapshotResult two = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry + other + kOldest}});
  EXPECT_EQ(two.caches.size(), 3u);
  EXPECT_FALSE(lacks(two, "slabinfo", ""));
}

// If vmallocinfo may lack areas, KernelStack is subtracted from VmallocUsed, so that stacks do not count twice.
TEST(PartialCopies, VmallocinfoMayLackAreas) {
  std::string meminfo = kMeminfo;
  meminfo.replace(meminfo.find("VmallocUsed: 200 kB"), 19, "VmallocUsed: 20000 kB");
  meminfo.replace(meminfo.find("KernelStack: 64 kB"), 18, "KernelStack: 8000 kB");
  const std::string load = "0x1000-0x6000 8196096 load+0x1/0x2 pages=2000 vmalloc N0=2000\n";
  const SnapshotResult found = stock_of({{"meminfo", meminfo}, {"vmallocinfo", load}});
  EXPECT_TRUE(lacks(found, "vmallocinfo", "areas may be missing"));
  EXPECT_EQ(line_of(found, "vmalloc")->bytes, 12000 * 1024);
  EXPECT_EQ(line_of(found, "vmalloc.callers")->bytes, 8000 * 1024);
  const std::string rest = "0x9000-0xb000 12292096 fill+0x1/0x2 pages=3000 vmalloc N0=3000\n";
  const SnapshotResult whole = stock_of({{"meminfo", meminfo}, {"vmallocinfo", load + rest}});
  EXPECT_FALSE(lacks(whole, "vmallocinfo", ""));
  EXPECT_EQ(line_of(whole, "vmalloc")->bytes, 20000 * 1024);
}

TEST(PartialCopies, HugePagesAreUnknownWithoutTheirLines) {
  EXPECT_FALSE(line_of(stock_of({{"meminfo", kMeminfo}}), "hugetlb")->known);
  const std::string pages = kMeminfo + "HugePages_Total: 3\n";
  EXPECT_FALSE(line_of(stock_of({{"meminfo", pages}}), "hugetlb")->known);
  EXPECT_EQ(line_of(stock_of({{"meminfo", pages + "Hugepagesize: 2048 kB\n"}}), "hugetlb")->bytes, 6 << 20);
  EXPECT_TRUE(line_of(stock_of({{"meminfo", kMeminfo + "HugePages_Total: 0\n"}}), "hugetlb")->known);
}

// Before Linux 4.4, VmallocUsed is address space. The next line, VmallocChunk, shows which kernel it is.
TEST(PartialCopies, VmallocUsedIsUnknownAtTheEndOfACutMeminfo) {
  std::string meminfo = kMeminfo.substr(0, kMeminfo.find("Percpu"));
  EXPECT_FALSE(line_of(stock_of({{"meminfo", meminfo}}), "vmalloc")->known);
  EXPECT_TRUE(line_of(stock_of({{"meminfo", meminfo + "VmallocChunk: 0 kB\n"}}), "vmalloc")->known);
}

TEST(PartialCopies, LinesOfMeminfoMayBeCutAtAColumn) {
  EXPECT_THROW(stock_of({{"meminfo", "MemTotal:\nMemFree:\nCached:\n" + kMeminfo}}), Error);
  // other lines have a unit, so the end of this one is missing
  const SnapshotResult found = stock_of({{"meminfo", kMeminfo + "SwapTotal: 1234\n"}});
  EXPECT_EQ(find_number(found.memory.meminfo, "SwapTotal"), std::nullopt);
  EXPECT_EQ(found.memory.unknown_lines, 1u);
}

TEST(PartialCopies, BuddyinfoMayLackZones) {
  const std::string zones =
      "Node 0, zone DMA\n  pages free 100\n      managed 1000\nNode 0, zone Normal\n  pages free 11000\n      managed "
      "24000\n";
  const std::string dma = "Node 0, zone DMA 100 0 0 0 0 0 0 0 0 0 0\n";
  const std::string normal = "Node 0, zone Normal 11000 0 0 0 0 0 0 0 0 0 0\n";
  const SnapshotResult whole = stock_of({{"meminfo", kMeminfo}, {"zoneinfo", zones}, {"buddyinfo", dma + normal}});
  EXPECT_FALSE(lacks(whole, "buddyinfo", ""));
  const SnapshotResult part = stock_of({{"meminfo", kMeminfo}, {"zoneinfo", zones}, {"buddyinfo", dma}});
  EXPECT_TRUE(lacks(part, "buddyinfo", "lacks zones"));
  for (const MemoryZone& zone : part.memory.zones) EXPECT_TRUE(zone.free.empty());
}

TEST(PartialCopies, ZoneinfoMayBeCut) {
  const std::string dma =
      "Node 0, zone DMA\n  pages free 100\n      managed 12000\n  pagesets\n    cpu: 0\n      count: 3\n";
  const std::string normal = "Node 0, zone Normal\n  pages free 11000\n      managed 13000\n";
  const std::string lists = "  pagesets\n    cpu: 0\n      count: 7\n";
  const auto is_cut = [](const std::string& zones) {
    return lacks(stock_of({{"meminfo", kMeminfo}, {"zoneinfo", zones}}), "zoneinfo", "");
  };
  EXPECT_FALSE(is_cut(dma + normal + lists));
  EXPECT_TRUE(is_cut(dma + normal));
  EXPECT_TRUE(is_cut(dma + "Node 0, zone Normal\n"));
  const std::string end = "  start_pfn:           1\n";
  EXPECT_FALSE(is_cut(dma + end + normal + lists + end));
  EXPECT_TRUE(is_cut(dma + end + normal + lists));
}

TEST(PartialCopies, VmstatMayLackItsFirstLines) {
  const auto is_cut = [](const std::string& vmstat) {
    return lacks(stock_of({{"meminfo", kMeminfo}, {"vmstat", vmstat}}), "vmstat", "first lines");
  };
  EXPECT_FALSE(is_cut("nr_free_pages 12500\nnr_zspages 3\n"));
  EXPECT_TRUE(is_cut("pgfault 3\n"));
}

// An empty slabinfo does not mean that there are no caches.
TEST(PartialCopies, CachesAreNotComparedWithAnEmptySlabinfo) {
  const SnapshotResult whole = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry + kOldest}});
  for (const std::string text : {"", "cat: slabinfo: Permission denied\n"}) {
    const SnapshotDiff found = diff(whole, stock_of({{"meminfo", kMeminfo}, {"slabinfo", text}}));
    EXPECT_TRUE(found.caches.empty());
    for (const BalanceChange& change : found.sheet) {
      if (change.line.id == "slab.in-use") {
        EXPECT_EQ(change.b, std::nullopt);
      }
    }
  }
}

TEST(PartialCopies, BlocksMayBeMoreThanTheKernelCounts) {
  const SnapshotResult found = stock_of(
      {{"meminfo", kMeminfo}, {"pagetypeinfo", "Node 0, zone Normal, type Movable >100000 5 0 0 0 0 0 0 0 0 0\n"}});
  EXPECT_TRUE(lacks(found, "pagetypeinfo", "there may be more"));
}

TEST(PartialCopies, DiffNamesDifferentMachines) {
  const SnapshotResult a = stock_of({{"meminfo", kMeminfo}, {"uname", "Linux web1 6.1.0 #1 SMP x86_64 GNU/Linux"}});
  const SnapshotResult b = stock_of({{"meminfo", kMeminfo}, {"uname", "Linux db7 6.1.0 #1 SMP x86_64 GNU/Linux"}});
  EXPECT_NE(text_snapshot_diff(diff(a, b), {}, {}).find("machine web1 and B of db7"), std::string::npos);
  EXPECT_EQ(text_snapshot_diff(diff(a, a), {}, {}).find("machine"), std::string::npos);
}

TEST(PartialCopies, OnlyCachesOfBothAreCompared) {
  const std::string more = "dentry 40 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\n";
  const SnapshotResult whole = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + more + kOldest}});
  const SnapshotResult cut = stock_of({{"meminfo", kMeminfo}, {"slabinfo", kHeader + kDentry}});
  const SnapshotDiff found = diff(cut, whole);
  ASSERT_EQ(found.caches.size(), 1u);
  EXPECT_EQ(found.caches.at(0).name, "dentry");
  EXPECT_EQ(found.not_compared, std::vector<SnapshotPart>{SnapshotPart::slab_caches});
}

TEST(PartialCopies, MeminfoMayBeInBytes) {
  std::string bytes;
  for (std::size_t at = 0; at < kMeminfo.size(); at = kMeminfo.find('\n', at) + 1) {
    const std::string line = kMeminfo.substr(at, kMeminfo.find('\n', at) - at);
    const std::size_t number = line.find(' ');
    bytes += line.substr(0, number + 1) + std::to_string(std::stoull(line.substr(number)) * 1024) + "\n";
  }
  EXPECT_EQ(stock_of({{"meminfo", bytes}}).total, 100000u * 1024);
}

// The vmalloc area of x86-64 has a size that no other architecture has.
TEST(PartialCopies, TheVmallocAreaShowsThePageSize) {
  const std::string quarter = "Node 0, zone Normal\n  pages free 3125\n        managed 6250\n";
  EXPECT_EQ(stock_of({{"meminfo", kMeminfo}, {"zoneinfo", quarter}}).memory.page_size, 16384u);
  EXPECT_EQ(
      stock_of({{"meminfo", kMeminfo + "VmallocTotal: 34359738367 kB\n"}, {"zoneinfo", quarter}}).memory.page_size,
      4096u);
}

// If only one of two states has a file, the file is not used, because its numbers may be from the other state.
TEST(PastedCopies, EachStateMustHaveEachFile) {
  const auto read = [](const std::string& text) {
    const Copies copies = copies_in_file("log", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return take_stock(parse_snapshot(*copies.state, 0));
  };
  const std::string slabs = kHeader + kDentry + kOldest;
  EXPECT_EQ(read(kMeminfo + slabs + kMeminfo + slabs).caches.size(), 2u);
  const SnapshotResult found = read(kMeminfo + slabs + kMeminfo);
  EXPECT_TRUE(found.caches.empty());
  EXPECT_TRUE(lacks(found, "copies", "2 copies of meminfo, but 1 of slabinfo"));
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
