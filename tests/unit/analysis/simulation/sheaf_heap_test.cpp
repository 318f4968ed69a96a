// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the model of SLUB with sheaves. The expected numbers follow from mm/slub.c in Linux 7.2.
#include "analysis/simulation/sheaf_heap.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "analysis/simulation/slub_heap.hpp"

namespace kmt {
namespace {

SlabMachine machine_of(std::vector<std::int16_t> cpu_nodes) {
  SlabMachine machine;
  machine.version = {7, 2};
  machine.arch = "x86_64";
  machine.cpus = static_cast<unsigned>(cpu_nodes.size());
  machine.cpu_nodes = std::move(cpu_nodes);
  return machine;
}

TEST(Sheaves, TheCapacityFillsAKmallocObject) {
  SlabMachine machine = machine_of({0});
  for (const auto& [bytes, capacity] :
       {std::pair{8u, 60u}, {255u, 60u}, {256u, 28u}, {1023u, 28u}, {1024u, 12u}, {4096u, 4u}})
    EXPECT_EQ(sheaf_capacity(bytes, machine), capacity) << bytes;
  machine.word_bytes = 4;
  EXPECT_EQ(sheaf_capacity(8, machine), 123u);  // 20 bytes and 123 pointers are 512 bytes
}

TEST(Sheaves, TheVersionSelectsTheModel) {
  SlabMachine machine = machine_of({0});
  const SlabGeometry geometry = slub_geometry(8192, machine);
  EXPECT_NE(dynamic_cast<SheafHeap*>(make_slub_cache(geometry, machine).get()), nullptr);
  machine.version = {6, 18};
  EXPECT_NE(dynamic_cast<SlubHeap*>(make_slub_cache(geometry, machine).get()), nullptr);
}

TEST(Sheaves, ListsOfCpusAreTheObjectsInAllSheaves) {
  const SlabMachine machine = machine_of({0, 0, 1, 1});
  EXPECT_EQ(most_list_bytes(slub_geometry(8192, machine), machine), (2 * 4 + 10 * 2) * 4 * 8192u);
}

// Slabs and sheaves have four objects of 8 KiB each. A node keeps 6 partial slabs (log2 8192 / 2).
class SheafModel : public testing::Test {
 protected:
  SlabMachine machine = machine_of({0, 1});
  SheafHeap heap{slub_geometry(8192, machine), machine};
  std::uint32_t allocate(int node = -1) { return heap.allocate(8192, 0, node); }
  std::vector<std::uint32_t> allocate_many(int objects) {
    std::vector<std::uint32_t> slabs;
    for (int i = 0; i < objects; ++i) slabs.push_back(allocate());
    return slabs;
  }
  void release(const std::vector<std::uint32_t>& slabs, unsigned cpu = 0) {
    for (const std::uint32_t slab : slabs) heap.release(slab, 8192, cpu);
  }
};

TEST_F(SheafModel, FillsWholeSheaves) {
  allocate_many(4);
  EXPECT_EQ(heap.slabs(), 1u);
  EXPECT_EQ(heap.partial_slabs(), 0u);
  allocate();
  EXPECT_EQ(heap.slabs(), 2u);
  EXPECT_EQ(heap.partial_slabs(), 0u) << "the sheaf has the other three objects";
}

TEST_F(SheafModel, KeepsFreedObjectsInSheaves) {
  release(allocate_many(12 * 4));  // the main sheaf, the spare one and 10 in the barn
  EXPECT_EQ(heap.slabs(), 12u);
  EXPECT_EQ(heap.partial_slabs(), 0u);
  allocate_many(12 * 4);
  EXPECT_EQ(heap.slabs(), 12u);
  allocate();
  EXPECT_EQ(heap.slabs(), 13u);
}

TEST_F(SheafModel, FreesSlabsIfTheBarnIsFull) {
  release(allocate_many(19 * 4));
  // The objects of 7 sheaves return to their slabs, which become empty. With the sixth slab, the node would have 6
  // partial slabs, so the sixth is freed, and likewise the seventh.
  EXPECT_EQ(heap.slabs(), 17u);
  EXPECT_EQ(heap.partial_slabs(), 5u);
  allocate_many(17 * 4);
  EXPECT_EQ(heap.slabs(), 17u) << "objects come from sheaves, then from partial slabs";
  EXPECT_EQ(heap.partial_slabs(), 0u);
  allocate();
  EXPECT_EQ(heap.slabs(), 18u);
}

TEST_F(SheafModel, ObjectsOfOtherNodesAvoidSheaves) {
  const std::uint32_t slab = allocate(1);
  EXPECT_EQ(heap.slabs(), 1u);
  EXPECT_EQ(heap.partial_slabs(), 1u) << "only one object is taken";
  release({slab});
  EXPECT_EQ(heap.partial_slabs(), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(allocate(1), slab);
  EXPECT_EQ(heap.partial_slabs(), 0u);
  release({slab}, 1);  // a CPU of the node frees into its sheaf
  EXPECT_EQ(heap.partial_slabs(), 0u);
}

TEST_F(SheafModel, StartsWithTheExistingSlabs) {
  heap.start_with(3, 2);  // 2 free objects are in one slab; each CPU has two objects in its sheaf
  EXPECT_EQ(heap.slabs(), 3u);
  EXPECT_EQ(heap.partial_slabs(), 1u);
  allocate_many(2);
  EXPECT_EQ(heap.partial_slabs(), 1u);
  allocate();
  EXPECT_EQ(heap.slabs(), 4u) << "the sheaf takes the 2 free objects and 2 of a new slab";
}

}  // namespace
}  // namespace kmt
