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

}  // namespace
}  // namespace kmt
