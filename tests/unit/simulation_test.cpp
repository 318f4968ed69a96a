// SPDX-License-Identifier: GPL-2.0-or-later
// Models of slab allocators, on examples that are computed by hand.
#include "analysis/simulation.hpp"

#include <string>

#include <gtest/gtest.h>

#include "analysis/simulated_heap.hpp"
#include "analysis/slab_array_heap.hpp"
#include "analysis/slob_heap.hpp"
#include "analysis/slub_heap.hpp"

namespace kmt {
namespace {

SlabMachine machine_of(unsigned cpus, KernelVersion version = {6, 1}) {
  SlabMachine machine;
  machine.cpus = cpus;
  machine.version = version;
  machine.arch = "x86_64";
  return machine;
}

// 12 objects are wanted with 2 CPUs: 4 × (fls(2) + 1).
TEST(SlabGeometry, AsInSlabinfo) {
  const SlabMachine machine = machine_of(2);
  const auto expect = [&](std::uint64_t bytes, std::uint32_t objects, std::uint64_t pages) {
    const SlabGeometry geometry = slub_geometry(bytes, machine);
    EXPECT_EQ(geometry.objects, objects) << bytes;
    EXPECT_EQ(geometry.slab_bytes, pages * 4096) << bytes;
  };
  expect(8, 512, 1);
  expect(96, 42, 1);
  expect(192, 21, 1);
  expect(512, 16, 2);
  expect(8192, 4, 8);
  expect(1192, 13, 4);  // ext4_inode_cache
  expect(2176, 15, 8);  // MPTCPv6
}

// 8 KiB in slabs of 32 KiB are 4 objects; with 640 bytes 51 of 32,640.
TEST(SlabGeometry, NewerKernelsTryWasteFirst) {
  EXPECT_EQ(slub_geometry(640, machine_of(2)).objects, 12u);  // 7,680 of 8,192: 1/16 is wasted
  EXPECT_EQ(slub_geometry(640, machine_of(2, {6, 18})).objects, 12u);
  // 3 of 10,000 fit order 3, and 2,768 are left: more than 1/16, less than 1/8.
  EXPECT_EQ(slub_geometry(10000, machine_of(2)).order, 3u);
  // 17,000: one in 32 KiB wastes nearly half. Before Linux 6.8 that was tried for no fraction, but for a single object.
  EXPECT_EQ(slub_geometry(17000, machine_of(2)).objects, 1u);
  EXPECT_EQ(slub_geometry(17000, machine_of(2, {6, 18})).order, 3u);
}

TEST(SlabGeometry, KmallocClasses) {
  const SlabMachine machine = machine_of(2);
  EXPECT_EQ(kmalloc_classes(8, machine),
            (std::vector<std::uint64_t>{8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192}));
  EXPECT_EQ(kmalloc_classes(128, machine), (std::vector<std::uint64_t>{128, 256, 512, 1024, 2048, 4096, 8192}));
  EXPECT_EQ(kmalloc_classes(64, machine), (std::vector<std::uint64_t>{64, 128, 192, 256, 512, 1024, 2048, 4096, 8192}));
  const std::vector<std::uint64_t> classes = kmalloc_classes(8, machine);
  EXPECT_EQ(kmalloc_bytes(1, classes, machine), 8u);
  EXPECT_EQ(kmalloc_bytes(65, classes, machine), 96u);
  EXPECT_EQ(kmalloc_bytes(8192, classes, machine), 8192u);
  EXPECT_EQ(kmalloc_bytes(8193, classes, machine), 16384u);
  EXPECT_EQ(kmalloc_bytes(~std::uint64_t{0}, classes, machine), ~std::uint64_t{0});
  SlabMachine arm = machine;
  arm.arch = "aarch64";
  EXPECT_EQ(least_kmalloc_class(arm), 128u);
  arm.version = {6, 12};
  EXPECT_EQ(least_kmalloc_class(arm), 0u);
}

// Slabs of four objects of 8 KiB. A CPU's list holds 3 slabs (6 × 2 / 4), a node keeps 6 partial ones (log2 8192 / 2).
class Slub : public testing::Test {
 protected:
  SlabMachine machine = machine_of(1);
  SlubHeap heap{slub_geometry(8192, machine), machine};
  std::uint32_t allocate() { return heap.allocate(8192, 0, -1); }
  void release(std::uint32_t slab) { heap.release(slab, 8192, 0); }
};

TEST_F(Slub, FillsASlabBeforeTheNext) {
  std::vector<std::uint32_t> slabs;
  for (int i = 0; i < 5; ++i) slabs.push_back(allocate());
  EXPECT_EQ(heap.slabs(), 2u);
  EXPECT_EQ(heap.held_bytes(), 2u * 32768);
  // The full one goes to the CPU's list with its first free object, and stays though it becomes empty.
  for (int i = 0; i < 4; ++i) release(slabs[static_cast<std::size_t>(i)]);
  EXPECT_EQ(heap.slabs(), 2u);
  // Three are left in the active slab, then the empty one is used again.
  for (int i = 0; i < 7; ++i) allocate();
  EXPECT_EQ(heap.slabs(), 2u);
  allocate();
  EXPECT_EQ(heap.slabs(), 3u);
}

TEST_F(Slub, GivesBackWhatANodeNeedsNot) {
  std::vector<std::uint32_t> slabs;
  for (int i = 0; i < 80; ++i) slabs.push_back(allocate());  // 20 slabs; the last is the CPU's
  EXPECT_EQ(heap.slabs(), 20u);
  for (const std::uint32_t slab : slabs) release(slab);
  // 19 were full. Each 4th to come drains the 3 on the list, which are empty: 6 go to the node, the others are given
  // back. The last drain is that of the 19th; what came then is on the list.
  EXPECT_EQ(heap.slabs(), 1u + 6u + 1u);
}

TEST_F(Slub, StartsWithWhatThereWas) {
  heap.start_with(3, 2);  // 2 of 12 free: one slab half full; and the CPU's, half of which counts as used
  EXPECT_EQ(heap.slabs(), 3u);
  for (int i = 0; i < 4; ++i) allocate();
  EXPECT_EQ(heap.slabs(), 3u);
  allocate();
  EXPECT_EQ(heap.slabs(), 4u);
  // Two of the objects that were there, of one slab: that is on the CPU's list now, and used when the active one is
  // full.
  heap.release_older(0x100000, 0);
  heap.release_older(0x102000, 0);
  for (int i = 0; i < 5; ++i) allocate();
  EXPECT_EQ(heap.slabs(), 4u);
  allocate();
  EXPECT_EQ(heap.slabs(), 5u);
}

TEST(SlabArray, KeepsObjectsInArrays) {
  const SlabMachine machine = machine_of(1);
  const SlabGeometry geometry = slab_geometry(512, machine);
  EXPECT_EQ(geometry.objects, 8u);  // a page: nothing is left over
  SlabArrayHeap heap(geometry, machine);
  std::vector<std::uint32_t> objects;
  for (int i = 0; i < 9; ++i) objects.push_back(heap.allocate(512, 0, -1));
  EXPECT_EQ(heap.held_bytes(), 2u * 4096);
  // 54 fit the array: nothing goes back.
  for (const std::uint32_t object : objects) heap.release(object, 512, 0);
  EXPECT_EQ(heap.held_bytes(), 2u * 4096);
}

TEST(Slob, PacksUnlikeSizes) {
  const SlabMachine machine = machine_of(1);
  SlobHeap heap(machine);
  EXPECT_EQ(SlobHeap::object_bytes(100, true, machine), 112u);
  EXPECT_EQ(SlobHeap::object_bytes(100, false, machine), 104u);
  EXPECT_EQ(SlobHeap::object_bytes(4096, false, machine), 4096u);
  EXPECT_EQ(SlobHeap::object_bytes(4090, true, machine), 4096u);  // a page, without header
  const std::uint32_t first = heap.allocate(2048, 0, -1);
  const std::uint32_t second = heap.allocate(1536, 0, -1);
  EXPECT_EQ(heap.held_bytes(), 4096u);
  const std::uint32_t third = heap.allocate(1024, 0, -1);  // 512 are left
  EXPECT_EQ(heap.held_bytes(), 8192u);
  heap.release(first, 2048, 0);
  heap.release(second, 1536, 0);
  EXPECT_EQ(heap.held_bytes(), 4096u);
  heap.release(third, 1024, 0);
  EXPECT_EQ(heap.held_bytes(), 0u);
  heap.allocate(8192, 0, -1);
  EXPECT_EQ(heap.held_bytes(), 8192u);
}

// A value of 10 from 0 to 4, of 30 from 4 to 5, and nothing until 10: 70 / 10.
TEST(TimeIntegral, Averages) {
  TimeIntegral sum;
  sum.change(10, 0);
  sum.change(20, 4);
  sum.change_back(30, 5);
  EXPECT_EQ(sum.average(0, 10), 7u);
}

// 1,000 objects of 600 bytes live in kmalloc-1k: 4 KiB for 4 of them, 8 KiB for 12 with a cache of 600 (13 of 600 fit).
TEST(Suggestions, TakesWhatSavesMost) {
  const SlabMachine machine = machine_of(2);
  const std::vector<ProfiledKind> kinds = {
      {"big+0x1", "big", "kmalloc-1k", 600, 1024, 1000, 1'000'000},
      {"other+0x1", "other", "kmalloc-1k", 1000, 1024, 1000, 1'000'000},
      {"soon_freed+0x1", "soon_freed", "kmalloc-96", 72, 96, 1'000'000, 0},
  };
  const std::vector<std::uint64_t> classes = kmalloc_classes(8, machine);
  const auto held = suggest_caches(kinds, classes, machine, {5, false});
  ASSERT_FALSE(held.empty());
  EXPECT_EQ(held[0].function, "big");
  EXPECT_EQ(held[0].object_bytes, 600u);
  EXPECT_EQ(held[0].class_bytes, 1024u);
  EXPECT_EQ(held[0].above_bytes, 512u);
  EXPECT_EQ(held[0].bytes_given - held[0].bytes_given_then, 424'000u);
  const auto given = suggest_caches(kinds, classes, machine, {1, true});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].function, "soon_freed");
  EXPECT_EQ(given[0].bytes_given - given[0].bytes_given_then, 24'000'000u);
}

// A function that gets objects of two sizes, of which only the larger gain by a cache.
TEST(SiteCaches, LeaveWhatSmallerClassesHaveRoomFor) {
  const SlabMachine machine = machine_of(2);
  SlabLayout layout;
  layout.site_caches.push_back({"pipe*", 0, 640});
  const auto cache_of = [&](std::uint64_t requested, std::uint64_t given) {
    ObjectKind kind;
    kind.cache = "kmalloc-" + std::to_string(given);
    kind.origin.bytes_requested = requested;
    kind.origin.bytes_allocated = given;
    return choose_cache(layout, kind, "pipe_info+0x1", machine);
  };
  EXPECT_EQ(cache_of(640, 1024).cache, "pipe*-640");
  EXPECT_EQ(cache_of(160, 192).cache, "kmalloc-192");
  EXPECT_EQ(cache_of(641, 1024).cache, "kmalloc-1024");
  layout.classes = {8, 1024};  // where the larger class is all there is
  EXPECT_EQ(cache_of(160, 192).cache, "pipe*-640");
}

}  // namespace
}  // namespace kmt
