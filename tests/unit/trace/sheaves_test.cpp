// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how many objects of a cache may be in sheaves. The expected numbers follow from mm/slub.c of Linux 7.2, and
// were compared with /sys/kernel/slab/*/sheaf_capacity of Linux 6.18.15 and 7.2.12.
#include "trace/state/sheaves.hpp"

#include <gtest/gtest.h>

#include "snapshot/parse.hpp"

namespace kmt {
namespace {

constexpr SheafMachine kTwoCpus{{7, 2}, 4096, 8, 2, 1};  // 3 sheaves of each CPU and 10 of the node

TEST(ObjectsInSheaves, FillTheSheavesOfAllCpusAndNodes) {
  EXPECT_EQ(most_objects_in_sheaves("kmalloc-64", 64, kTwoCpus), 60u * 16);
  EXPECT_EQ(most_objects_in_sheaves("filp", 256, kTwoCpus), 28u * 16);
  EXPECT_EQ(most_objects_in_sheaves("kmalloc-1k", 1024, kTwoCpus), 12u * 16);
  EXPECT_EQ(most_objects_in_sheaves("kmalloc-4k", 4096, kTwoCpus), 4u * 16);
  SheafMachine large = kTwoCpus;
  large.cpus = 8;
  large.nodes = 2;
  EXPECT_EQ(most_objects_in_sheaves("kmalloc-64", 64, large), 60u * (3 * 8 + 10 * 2));
}

TEST(ObjectsInSheaves, SomeCachesRequestTheirNumberOrHaveNone) {
  EXPECT_EQ(most_objects_in_sheaves("maple_node", 256, kTwoCpus), 32u * 16);
  EXPECT_EQ(most_objects_in_sheaves("vm_area_struct", 192, kTwoCpus), 60u * 16);
  EXPECT_EQ(most_objects_in_sheaves("kmem_cache", 256, kTwoCpus), 0u);
  EXPECT_EQ(most_objects_in_sheaves("kmem_cache_node", 64, kTwoCpus), 0u);
}

TEST(ObjectsInSheaves, TheVersionDecides) {
  SheafMachine machine = kTwoCpus;
  machine.version = {6, 18};
  EXPECT_EQ(most_objects_in_sheaves("maple_node", 256, machine), 32u * 16);
  EXPECT_EQ(most_objects_in_sheaves("vm_area_struct", 192, machine), 32u * 16);
  EXPECT_EQ(most_objects_in_sheaves("kmalloc-64", 64, machine), 0u);
  machine.version = {6, 17};
  EXPECT_EQ(most_objects_in_sheaves("maple_node", 256, machine), 0u);
}

TEST(ObjectsInSheaves, ASnapshotDescribesTheMachine) {
  const std::string zones =
      "Node 0, zone   Normal\n  pages free     2298\n  pagesets\n    cpu: 0\n              count:    5\n"
      "    cpu: 2\n              count:    7\nNode 1, zone   Normal\n  pages free     1\n";
  StateSample sample;
  sample.texts = {{"uname", "Linux host 7.2.12 #1 SMP x86_64 GNU/Linux\n"}, {"zoneinfo", zones}};
  const auto machine = sheaf_machine_of(parse_snapshot(sample, 16384));
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->version, (KernelVersion{7, 2}));
  EXPECT_EQ(machine->page_bytes, 16384u);
  EXPECT_EQ(machine->cpus, 3u);
  EXPECT_EQ(machine->nodes, 2u);
  EXPECT_EQ(machine->word_bytes, 8u);
  sample.texts = {{"uname", "Linux host 7.2.12 #1 SMP i686 GNU/Linux\n"}};
  const auto unknown = sheaf_machine_of(parse_snapshot(sample, 4096));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->cpus, kAssumedCpus);
  EXPECT_EQ(unknown->nodes, 1u);
  EXPECT_EQ(unknown->word_bytes, 4u);
  sample.texts = {{"zoneinfo", zones}};
  EXPECT_FALSE(sheaf_machine_of(parse_snapshot(sample, 4096))) << "the release is unknown";
}

// On 2 CPUs and one node, 16 sheaves may be full.
TEST(SheafBounds, AreObjectsAndTheSlabsThatTheyFill) {
  KernelMemory memory;
  memory.release = "7.3.4";
  memory.machine = "x86_64";
  memory.page_size = 4096;
  memory.cpus = 2;
  memory.slabs.resize(4);
  const auto set = [&memory](std::size_t i, const char* name, std::uint64_t bytes, std::uint64_t objects_per_slab,
                             std::uint64_t pages_per_slab) {
    memory.slabs[i].name = name;
    memory.slabs[i].object_bytes = bytes;
    memory.slabs[i].objects_per_slab = objects_per_slab;
    memory.slabs[i].pages_per_slab = pages_per_slab;
  };
  set(0, "kmalloc-64", 64, 64, 1);   // 16 * 60 = 960 objects fill 15 slabs
  set(1, "dentry", 192, 21, 1);      // 960 objects need 45.7 slabs
  set(2, "kmalloc-4k", 4096, 8, 8);  // 16 * 4 = 64 objects fill 8 slabs of 8 pages
  set(3, "kmem_cache", 256, 16, 1);  // has no sheaves
  const auto bounds = sheaf_bounds(memory);
  ASSERT_EQ(bounds.size(), 3u);
  EXPECT_EQ(bounds.at("kmalloc-64").objects, 960u);
  EXPECT_EQ(bounds.at("kmalloc-64").slab_bytes, 15u * 4096);
  EXPECT_EQ(bounds.at("dentry").objects, 960u);
  EXPECT_EQ(bounds.at("dentry").slab_bytes, 46u * 4096);
  EXPECT_EQ(bounds.at("kmalloc-4k").slab_bytes, 64u * 4096);
  memory.release = "6.12.1";
  EXPECT_TRUE(sheaf_bounds(memory).empty());
  memory.release.clear();
  EXPECT_TRUE(sheaf_bounds(memory).empty()) << "the release is unknown";
}

}  // namespace
}  // namespace kmt
