// SPDX-License-Identifier: GPL-2.0-or-later
// Tests snapshots: how texts of artificial kernels are parsed and shown. tests/oracle/snapshot_test.py compares real
// snapshots with sums computed in Python.
#include <algorithm>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "results/snapshot/page_census.hpp"
#include "snapshot/nodes.hpp"
#include "snapshot/parse.hpp"
#include "snapshot/sources.hpp"
#include "support/documented_keys.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {
namespace {

const char* const kMeminfo =
    "MemTotal: 100000 kB\nMemFree: 50000 kB\nBuffers: 10 kB\nCached: 2000 kB\nSwapCached: 0 kB\nAnonPages: 3000 kB\n"
    "Shmem: 500 kB\nKReclaimable: 90 kB\nSlab: 400 kB\nSReclaimable: 80 kB\nKernelStack: 64 kB\nPageTables: 100 kB\n"
    "VmallocUsed: 200 kB\nPercpu: 300 kB\nHugePages_Total: 2\nHugepagesize: 2048 kB\n";
const char* const kSlabinfo =
    "slabinfo - version: 2.1\n"
    "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> "
    "<sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail> <of_tomorrow>\n"
    "kmalloc-96 80 84 96 42 1 : tunables 0 0 0 : slabdata 2 2 0 7\n"
    "dentry 20 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0 8\n"
    "kmem_cache 0 0 256 16 1 : tunables 0 0 0 : slabdata 0 0 0 9\n";

class Snapshots : public ::testing::Test {
 protected:
  void SetUp() override { set("meminfo", kMeminfo), set("slabinfo", kSlabinfo); }
  void set(const std::string& name, const std::string& text) {
    remove(name);
    sample.texts.emplace_back(name, text);
  }
  SnapshotResult result() const { return take_stock(parse_snapshot(sample, 4096)); }
  static std::int64_t line(const SnapshotResult& of, const std::string& id) {
    for (const BalanceLine& one : of.sheet)
      if (one.id == id) return one.bytes;
    ADD_FAILURE() << "no line " << id;
    return 0;
  }

  void remove(const std::string& name) {
    std::erase_if(sample.texts, [&](const auto& known) { return known.first == name; });
  }
  static const BalanceChange& change_of(const SnapshotDiff& diff, const std::string& id) {
    const auto found = std::ranges::find(diff.sheet, id, [](const BalanceChange& change) { return change.line.id; });
    if (found == diff.sheet.end()) throw Error("no line " + id);
    return *found;
  }

  StateSample sample;
};

TEST_F(Snapshots, ColumnsOfSlabinfoAreFoundByTheirNames) {
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.slabs.size(), 3u);
  const SlabInfo& slab = found.memory.slabs[0];
  EXPECT_EQ(slab.name, "kmalloc-96");
  EXPECT_EQ(slab.slabs, 2u);
  ASSERT_EQ(slab.others.size(), 6u);
  EXPECT_EQ(slab.others.back(), NamedText("of_tomorrow", "7"));
  EXPECT_EQ(found.caches[0].free, 4u * 96);
  EXPECT_EQ(found.caches[0].tails, 2u * 4096 - 84 * 96);
}

TEST_F(Snapshots, CachesMayHaveBlanksInTheirNames) {
  set("slabinfo", std::string(kSlabinfo) + "of module 2 30 42 96 42 1 : tunables 0 0 0 : slabdata 1 1 0 9\n 1 2 3\n");
  const KernelMemory memory = parse_snapshot(sample, 4096);
  ASSERT_EQ(memory.slabs.size(), 4u);
  EXPECT_EQ(memory.slabs.back().name, "of module 2");
  EXPECT_EQ(memory.slabs.back().active_objects, 30u);
  EXPECT_EQ(memory.slabs.back().slabs, 1u);
  EXPECT_EQ(memory.unknown_lines, 1u);
  EXPECT_NO_THROW(refuse_damage("slabinfo", "of module 2 30 42 96 42 1 : tunables 0 0 0 : slabdata 1 1 0 9\n", "x"));
  EXPECT_THROW(refuse_damage("slabinfo", "of module 2 30 4? 96 42 1 : tunables 0 0 0 : slabdata 1 1 0 9\n", "x"),
               Error);
}

// The lines of a machine with two nodes.
TEST_F(Snapshots, NodesAreShownIfThereAreSeveral) {
  const auto node = [](int number, int total) {
    return fmt::format(
        "\nNode {0} MemTotal:       {1} kB\nNode {0} MemFree:        20000 kB\nNode {0} MemUsed:        9 kB\n"
        "Node {0} AnonPages:       1500 kB\nNode {0} SReclaimable:      40 kB\nNode {0} HugePages_Total:     1\n",
        number, total);
  };
  EXPECT_EQ(node_meminfo_of({node(0, 50000)}), "") << "/proc/meminfo has the same numbers";
  EXPECT_EQ(nlohmann::json::parse(json_snapshot(result(), {}))["nodes"].size(), 0u);
  set("node_meminfo", node_meminfo_of({node(0, 40000), node(1, 60000)}));
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.nodes.size(), 2u);
  EXPECT_EQ(found.memory.unknown_lines, 0u);
  EXPECT_EQ(find_number(found.memory.nodes[1].values, "MemTotal"), 60000u * 1024);
  TextStyle style;
  style.raw = true;
  const std::string text = text_snapshot(found, {}, style);
  const std::string table = text.substr(text.find("Memory by NUMA node"));
  for (const char* const line : {"node 0", "node 1", "total"}) EXPECT_NE(table.find(line), std::string::npos) << line;
  for (const int bytes : {40000 * 1024, 100000 * 1024, 3000 * 1024, 2048 * 1024, 2 * 2048 * 1024})
    EXPECT_NE(table.find(fmt::format(" {}", bytes)), std::string::npos) << bytes;
  const auto json = nlohmann::json::parse(json_snapshot(found, {}));
  EXPECT_EQ(json["nodes"][1]["meminfo"]["SReclaimable"], 40 * 1024);
}

TEST_F(Snapshots, FilesOfNodesAreRecognised) {
  const auto file = node_file_of("sos/host/sys/devices/system/node/node12/meminfo");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->root, "sos/host/");
  EXPECT_EQ(file->node, 12u);
  EXPECT_EQ(node_file_of("sys/devices/system/node/node0/meminfo")->root, "");
  for (const char* const path : {"proc/meminfo", "node0/meminfo", "sys/devices/system/node/node/meminfo",
                                 "sys/devices/system/node/node0/numastat", "xsys/devices/system/node/node0/meminfo"})
    EXPECT_FALSE(node_file_of(path)) << path;
}

TEST_F(Snapshots, HugePagesOfOldKernelsAreCounted) {
  EXPECT_EQ(line(result(), "hugetlb"), 2 * 2048 * 1024);
  set("meminfo", std::string(kMeminfo) + "Hugetlb: 8192 kB\n");
  EXPECT_EQ(line(result(), "hugetlb"), 8192 * 1024);
}

// On a kernel without CONFIG_VMAP_STACK, VmallocUsed does not contain kernel stacks. vmallocinfo shows which is the
// case.
TEST_F(Snapshots, StacksAreSubtractedFromVmallocOnlyIfIncluded) {
  EXPECT_EQ(line(result(), "vmalloc"), (200 - 64) * 1024);
  set("vmallocinfo", "0x1-0x2 200704 take+0x1/0x2 pages=48 vmalloc N0=48\n");
  EXPECT_EQ(line(result(), "vmalloc"), 200 * 1024);
  set("vmallocinfo", "0x1-0x2 20480 copy_process+0x1/0x2 pages=4 vmalloc N0=4\n");
  EXPECT_EQ(line(result(), "vmalloc"), (200 - 64) * 1024);
  set("vmallocinfo", "");
  set("uname", "Linux host 6.1.0-50-686-pae #1 SMP i686 GNU/Linux");
  EXPECT_EQ(line(result(), "vmalloc"), 200 * 1024);
  EXPECT_EQ(result().memory.release, "6.1.0-50-686-pae");
  EXPECT_EQ(result().memory.machine, "i686");
  EXPECT_EQ(result().memory.host, "host");
}

TEST_F(Snapshots, SlubOfOldKernelsListsCallSites) {
  set("alloc_traces",
      "kmalloc-96/alloc_traces:     12 take+0x1/0x2 [mod] age=1/2/3 pid=1-9 cpus=0-1\n"
      "kmalloc-96/alloc_traces:      1 <not-available> age=5 pid=0\n"
      "dentry/alloc_traces:No data\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.slab_allocations.size(), 2u);
  EXPECT_EQ(found.memory.slab_allocations[0].count, 12u);
  EXPECT_EQ(found.memory.slab_allocations[0].name, "take+0x1/0x2 [mod]");
  EXPECT_EQ(found.memory.slab_allocations[0].others, "age=1/2/3 pid=1-9 cpus=0-1");
  EXPECT_EQ(found.memory.slab_allocations[0].bytes, 12u * 96);
  EXPECT_EQ(found.memory.unknown_lines, 0u);
}

TEST_F(Snapshots, PageOwnerCountsByStackOrByRecord) {
  set("page_owner_stacks", " get+0x1/0x2\n take+0x3/0x4\nnr_base_pages: 16\n\n other+0x1/0x2\nstack_count: 2\n\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.page_owners.size(), 2u);
  EXPECT_EQ(found.memory.page_owners[0].bytes, 16u * 4096);
  EXPECT_EQ(found.memory.page_owners[0].stack, (std::vector<std::string>{"get+0x1/0x2", "take+0x3/0x4"}));
  EXPECT_EQ(found.memory.page_owners[1].count, 2u);
}

TEST_F(Snapshots, PageOwnersAreNotAllocatorFunctions) {
  set("page_owner_stacks",
      " get_page_from_freelist+0x1/0x2\n __alloc_pages+0x1/0x2\n take.isra.0+0x3/0x4 [mod]\nnr_base_pages: 16\n\n"
      " __alloc_pages+0x1/0x2\nnr_base_pages: 1\n\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.page_owners.size(), 2u);
  EXPECT_EQ(found.memory.page_owners[0].name, "take.isra.0+0x3/0x4 [mod]");
  EXPECT_EQ(found.memory.page_owners[1].name, "__alloc_pages+0x1/0x2");
}

// The kernel lists pageblocks by zone, for each node. With page_owner=on, a further table has mixed blocks.
TEST_F(Snapshots, PageblocksAreSummedUpByType) {
  set("pagetypeinfo",
      "Page block order: 9\nPages per block:  512\n\nFree pages count per migrate type at order 0\n"
      "Node    0, zone      DMA, type    Unmovable      7 \n\n"
      "Number of blocks type     Unmovable      Movable   HighAtomic \n"
      "Node 0, zone      DMA            1            7            0 \n"
      "Node 0, zone   Normal          316        10078            0 \n\n"
      "Number of mixed blocks    Unmovable      Movable   HighAtomic \n"
      "Node 0, zone      DMA            0            2            0 \n"
      "Node 0, zone   Normal           16           40            0 \n"
      "Page block order: 9\n"
      "Number of blocks type     Unmovable      Movable   HighAtomic \n"
      "Node 1, zone   Normal           10          100            1 \n"
      "Node 1, zone   Other             a            b            c \n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.blocks_by_type.size(), 3u);
  const BlocksByType& unmovable = found.memory.blocks_by_type[0];
  EXPECT_EQ(unmovable.type, "Unmovable");
  EXPECT_EQ(unmovable.blocks, 327u);
  EXPECT_EQ(unmovable.mixed, 16u);
  EXPECT_EQ(found.memory.blocks_by_type[1].blocks, 10185u);
  EXPECT_EQ(found.memory.blocks_by_type[1].mixed, 42u);
  PageblockUse use;
  use.by_type = found.memory.blocks_by_type;
  EXPECT_EQ(listed_blocks(use), 10513u);
  EXPECT_EQ(intended_for_unmovable(use), 328u);
  EXPECT_EQ(mixed_by_kernel(use), 58u);
}

TEST_F(Snapshots, ZonesAreReadFromThreeFiles) {
  set("zoneinfo",
      "Node 0, zone      DMA\n  per-node stats\n      nr_free_pages 99\n  pages free     10\n        managed  20\n"
      "      nr_free_pages 10\n  pagesets\n    cpu: 0\n              count: 3\n              high:  4\n    cpu: 1\n"
      "              count:    5\n  node_unreclaimable:  0\n  start_pfn:           1\n");
  set("buddyinfo", "Node 0, zone      DMA      1      0      2 \n");
  set("pagetypeinfo",
      "Page block order: 9\n\nFree pages count per migrate type at order 0 1\n"
      "Node    0, zone      DMA, type    Unmovable     >100000      7 \n\nNumber of blocks type Unmovable\n"
      "Node 0, zone      DMA            1\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.zones.size(), 1u);
  const MemoryZone& zone = found.memory.zones[0];
  EXPECT_EQ(zone.cpu_list_pages, 8u);
  EXPECT_EQ(zone.free, (std::vector<std::uint64_t>{1, 0, 2}));
  EXPECT_EQ(find_number(zone.values, "free"), 10u);
  EXPECT_EQ(find_number(zone.values, "managed"), 20u);
  EXPECT_EQ(number_or_0(zone.values, "nr_free_pages"), 10u);
  ASSERT_EQ(found.memory.free_by_type.size(), 1u);
  EXPECT_EQ(found.memory.free_by_type[0].free, (std::vector<std::uint64_t>{100000, 7}));
  EXPECT_EQ(line(found, "free.cpu-lists"), 8 * 4096);
  EXPECT_EQ(found.memory.unknown_lines, 0u);
}

TEST_F(Snapshots, DisabledAllocinfoIsMissing) {
  set("allocinfo", "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n 0 0 mm/slub.c:1 func:take\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.missing.size(), 1u);
  EXPECT_EQ(found.memory.missing[0].how, "sysctl vm.mem_profiling=1");
}

TEST_F(Snapshots, DiffHasLinesOfOnlyOneSnapshot) {
  const SnapshotResult without = result();
  set("meminfo", std::string(kMeminfo) + "CmaTotal: 100 kB\nCmaFree: 40 kB\n");
  set("slabinfo", std::string(kSlabinfo) + "new 1 2 2048 2 1 : tunables 0 0 0 : slabdata 1 1 0 0\n");
  const SnapshotResult with = result();
  for (const bool turned : {false, true}) {
    const SnapshotDiff found = turned ? diff(with, without) : diff(without, with);
    const BalanceChange& cma = change_of(found, "free.cma");
    EXPECT_EQ(turned ? cma.a : cma.b, 40 * 1024);
    EXPECT_EQ(turned ? cma.b : cma.a, 0);
    ASSERT_EQ(found.caches.size(), 1u);
    EXPECT_EQ(found.caches[0].name, "new");
  }
}

TEST_F(Snapshots, DiffStatesWhatOneSnapshotLacks) {
  set("zoneinfo", "Node 0, zone      DMA\n  pages free     10\n  pagesets\n    cpu: 0\n              count: 3\n");
  const SnapshotResult with = result();
  remove("slabinfo"), remove("zoneinfo");
  const SnapshotResult without = result();
  const SnapshotDiff found = diff(without, with);
  for (const char* const id : {"slab.in-use", "slab.large", "free.cpu-lists"}) {
    EXPECT_FALSE(change_of(found, id).a) << id;
    EXPECT_TRUE(change_of(found, id).b) << id;
  }
  EXPECT_EQ(change_of(found, "slab").a, 400 * 1024);
  EXPECT_EQ(change_of(found, "slab.reclaimable").a, 80 * 1024);
  const auto balance = nlohmann::json::parse(json_snapshot_diff(found, {}))["balance"];
  EXPECT_TRUE(std::ranges::any_of(balance, [](const auto& line) {
    return line["id"] == "free.cpu-lists" && line["a"].is_null() && line["b"] == 3 * 4096;
  }));
  EXPECT_NE(text_snapshot_diff(found, {}, {}).find("unknown"), std::string::npos);
}

TEST_F(Snapshots, WithoutATotalThereIsNoBalanceSheet) {
  set("meminfo", "Slab: 5 kB\n");
  EXPECT_THROW(result(), Error);
}

// If meminfo is cut off, the memory of its missing lines would seem unaccounted.
TEST_F(Snapshots, ATruncatedMeminfoGivesNoBalanceSheet) {
  const std::string whole = kMeminfo;
  for (const char* const line : {"MemFree", "Cached", "Slab", "KernelStack", "VmallocUsed", "Percpu"}) {
    set("meminfo", whole.substr(0, whole.find(std::string("\n") + line) + 1));
    EXPECT_THROW(result(), Error) << line;
  }
}

TEST_F(Snapshots, MeminfoBeforeLinux2_6_32HasNoBalanceSheet) {
  set("meminfo",
      "MemTotal: 100 kB\nMemFree: 50 kB\nBuffers: 1 kB\nCached: 20 kB\nAnonPages: 5 kB\nSlab: 4 kB\n"
      "PageTables: 1 kB\nVmallocUsed: 2 kB\n");
  try {
    result();
    FAIL() << "an error was expected";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("as before Linux 2.6.32"), std::string::npos) << error.what();
  }
}

TEST_F(Snapshots, TruncatedNumbersAreIgnored) {
  set("meminfo", std::string(kMeminfo) + "Hugetlb: 819");
  const SnapshotResult found = result();
  EXPECT_FALSE(find_number(found.memory.meminfo, "Hugetlb"));
  ASSERT_EQ(found.memory.missing.size(), 1u);
  EXPECT_EQ(found.memory.missing[0].name, "meminfo");
  set("meminfo", std::string(kMeminfo) + "Hugetlb: 819 kB");
  EXPECT_EQ(find_number(result().memory.meminfo, "Hugetlb"), 819u * 1024);
  EXPECT_TRUE(result().memory.missing.empty());
}

TEST_F(Snapshots, CgroupsOfVersion1HaveKernelMemory) {
  set("cgroups",
      "/memory.stat:rss 8\n/memory.kmem.usage_in_bytes:4096\n/a/memory.stat:cache 1\n/a/memory.stat:rss 2\n"
      "/a/memory.kmem.usage_in_bytes:300\n/a/memory.kmem.usage_in_bytes:/memory.stat:rss 7\n");
  const SnapshotResult found = result();
  ASSERT_EQ(found.memory.cgroups.size(), 3u);
  EXPECT_EQ(found.memory.cgroups[0].path, "/");
  EXPECT_EQ(kernel_bytes(found.memory.cgroups[0]), 4096u);
  EXPECT_EQ(found.memory.cgroups[1].path, "/a");
  EXPECT_EQ(kernel_bytes(found.memory.cgroups[1]), 300u);
  EXPECT_EQ(user_bytes(found.memory.cgroups[1]), 3u);
  EXPECT_EQ(found.memory.cgroups[2].path, "/a/memory.kmem.usage_in_bytes:");
  EXPECT_FALSE(kernel_bytes(found.memory.cgroups[2]));
  EXPECT_EQ(found.memory.unknown_lines, 0u);
}

TEST_F(Snapshots, TheTotalOfZonesIsTheFreeMemory) {
  set("zoneinfo",
      "Node 0, zone      DMA\n  pages free     10\n        managed  20\n  pagesets\n    cpu: 0\n"
      "              count: 3\nNode 0, zone   Normal\n  pages free     1000\n        managed  2000\n  pagesets\n"
      "    cpu: 0\n              count: 30\n");
  TextStyle style;
  style.raw = true;
  const std::string text = text_snapshot(result(), {}, style);
  const std::size_t at = text.find("total", text.find("node 0 Normal"));
  ASSERT_NE(at, std::string::npos) << text;
  for (const char* const sum : {"8273920", "4136960", "135168"})  // expected pages: 2020, 1010 and 33
    EXPECT_NE(text.find(sum, at), std::string::npos) << sum << '\n' << text;
  EXPECT_NE(text.find("4272128", at), std::string::npos) << text;  // the sum of both kinds of free pages
}

TEST_F(Snapshots, MemoryOfTheRecorderHasASeparateLine) {
  const std::int64_t before = line(result(), "unaccounted");
  set("recorder", "ring_buffers 4096000\nbpf_maps 8192\n");
  const SnapshotResult found = result();
  EXPECT_EQ(line(found, "recorder"), 4096000);
  EXPECT_EQ(line(found, "unaccounted"), before - 4096000);
  EXPECT_EQ(line(found, "vmalloc.recorder"), 8192);
  EXPECT_EQ(line(found, "vmalloc"), (200 - 64) * 1024);
}

TEST_F(Snapshots, LinesOfPartlyReadFilesAreNotCompared) {
  set("vmallocinfo", "0x1-0x2 8192 take+0x1/0x2 pages=1 vmalloc N0=1\n");
  const SnapshotResult whole = result();
  set("missing", "vmallocinfo\tonly the first 1 KiB were read\t\n");
  const SnapshotDiff changed = diff(whole, result());
  std::size_t lines = 0;
  for (const BalanceChange& change : changed.sheet) {
    if (change.line.source.find("vmallocinfo:") == std::string::npos) continue;
    ++lines;
    EXPECT_TRUE(change.a) << change.line.id;
    EXPECT_FALSE(change.b) << change.line.id;
  }
  EXPECT_GT(lines, 0u);
  EXPECT_EQ(std::ranges::count(changed.not_compared, SnapshotPart::vmalloc), 1);
}

TEST_F(Snapshots, OwnersDivideUnaccountedMemory) {
  set("owners",
      "ftrace\tinstance=x\tsize_kb=7\tsubbuf_kb=4\nbpf_map\tid=2\ttype=1\tname=m\tmemlock=999\npipe\tbytes=1\n");
  const SnapshotResult a = result();
  EXPECT_EQ(line(a, "unaccounted.owned"), 4 * 4096);
  EXPECT_EQ(line(a, "unaccounted.rest"), line(a, "unaccounted") - 4 * 4096);
  const std::string text = text_snapshot(a, {}, {120});
  for (const char* const part : {"with a known owner", "without a known owner", "ftrace buffers", "m (id 2)",
                                 "slab, vmalloc, percpu", "The owners name 16.0 KiB"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  set("owners", "ftrace\tinstance=x\tsize_kb=11\tsubbuf_kb=4\n");
  const SnapshotDiff change = diff(a, result());
  ASSERT_EQ(change.owners.size(), 2u);  // maps are in other lines
  EXPECT_EQ(change.owners[0].name, "ftrace buffers: instance x");
  EXPECT_EQ(change.owners[0].b - change.owners[0].a, 4096);
  EXPECT_EQ(change.owners[1].name, "pipes: unknown process");
  set("missing", "owners\tonly a part\t\n");
  const SnapshotDiff partly = diff(a, result());
  EXPECT_TRUE(partly.owners.empty());
  EXPECT_NE(std::ranges::find(partly.not_compared, SnapshotPart::owners), partly.not_compared.end());
  EXPECT_FALSE(change_of(partly, "unaccounted.rest").b);
}

TEST_F(Snapshots, TextFitsAndKeepsAllLabels) {
  set("missing", "allocinfo\tnot there\tboot another kernel\n");
  for (const unsigned width : {60u, 80u, 100u, 120u}) {
    const std::string text = text_snapshot(result(), {}, {width});
    for (const char* const part : {"in the page allocator", "waste at the ends of slabs", "unaccounted memory",
                                   "97.7 MiB", "Slab caches by held, all 3", "to get it: boot another"})
      EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_LE(end - at, width) << text.substr(at, end - at);
  }
}

TEST_F(Snapshots, JsonHasTheDocumentedKeysInTheirOrder) {
  set("vmallocinfo", "0x1-0x2 8192 take+0x1/0x2 pages=1 vmalloc N0=1\n");
  set("allocinfo", "1 1 a.c:1 func:f\n");
  set("cgroups", "/a/memory.stat:slab 1\n/a/cgroup.stat:nr_dying_descendants 2\n");
  set("zoneinfo", "Node 0, zone      DMA\n  pages free     10\n");
  set("pagetypeinfo", "Node    0, zone      DMA, type    Unmovable      7 \n");
  set("missing", "kmemleak\tnot there\t\n");
  set("node_meminfo", "Node 0 MemTotal: 1 kB\nNode 1 MemTotal: 1 kB\n");
  set("vmstat", "what\n");
  set("owners", "pipe\tpid=1\tprocess=a\tbytes=1\n");
  const auto json = nlohmann::ordered_json::parse(json_snapshot(result(), {}));
  const test::DocumentedKeys keys("snapshot-json.md");
  EXPECT_EQ(keys(json),
            "schema taken_unix_ns release machine host page_size sources files log log_reports total_bytes balance "
            "contradictions health pages slab_caches_total slab_caches "
            "vmalloc_total vmalloc allocinfo_total allocinfo cgroups_total cgroups dying_cgroups_total dying_cgroups "
            "owners_total owners slab_allocations_total "
            "slab_allocations slab_frees_total slab_frees page_owners_total page_owners kmemleak_total kmemleak nodes "
            "zones free_by_type percpu sockets oom meminfo vmstat missing unknown_lines_total unknown_lines ");
  EXPECT_EQ(keys(json["balance"][0]), "id label bytes at_least depth counted source ");
  EXPECT_EQ(keys(json["health"][0]), "id health unit value bytes warn bad subject reason ");
  for (const auto& one : json["balance"]) keys.expect(one["id"].get<std::string>());
  EXPECT_EQ(keys(json["slab_caches"][0]),
            "name merged held_bytes in_use_bytes empty_bytes padding_bytes tail_bytes active_objects objects "
            "object_bytes slabs asked_object_bytes align order partial_slabs cpu_slabs cpu_partial_slabs attributes ");
  EXPECT_EQ(keys(json["vmalloc"][0]), "function areas bytes virtual_bytes mapped_bytes task_stacks ");
  EXPECT_EQ(keys(json["allocinfo"][0]), "site of count bytes approximate stack more ");
  EXPECT_EQ(keys(json["cgroups"][0]), "path container pod pod_name unit kernel_bytes user_bytes stat ");
  EXPECT_EQ(keys(json["dying_cgroups"][0]),
            "below count existing kernel_bytes slab_bytes percpu_bytes file_bytes anonymous_bytes ");
  EXPECT_EQ(keys(json["nodes"][0]), "node meminfo ");
  EXPECT_EQ(keys(json["owners"][0]), "kind name bytes count exactness place ");
  EXPECT_EQ(keys(json["zones"][0]), "node zone cpu_list_pages free_blocks pages ");
  EXPECT_EQ(keys(json["free_by_type"][0]), "node zone migrate_type free_blocks ");
  EXPECT_EQ(keys(json["percpu"]), "first_chunk_bytes stats ");
  EXPECT_EQ(keys(json["missing"][0]), "source why how ");
  EXPECT_EQ(keys(json["unknown_lines"][0]), "source line ");
  const auto changed = nlohmann::ordered_json::parse(json_snapshot_diff(diff(result(), result()), {}));
  keys(changed["a"]);
  keys(changed["balance"][0]);
}

TEST(SnapshotDocs, ListEverySortKeyAndEveryText) {
  const std::string manual = read_file(std::string(KMEMTRACE_DOCS) + "/man/kmemtrace-snapshot.1.scd");
  for (const auto& column : slab_cache_columns())
    EXPECT_NE(manual.find(fmt::format("\n*{}*\n", column.key)), std::string::npos) << column.key;
  const std::string format = read_file(std::string(KMEMTRACE_DOCS) + "/formats/kmt.md");
  EXPECT_NE(format.find("`node_meminfo`"), std::string::npos);
  for (const SnapshotSource& source : snapshot_sources())
    EXPECT_NE(format.find(fmt::format("`{}`", source.name)), std::string::npos) << source.name;
}

}  // namespace
}  // namespace kmt
