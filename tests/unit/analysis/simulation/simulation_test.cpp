// SPDX-License-Identifier: GPL-2.0-or-later
// Tests models of slab allocators with examples that were computed by hand.
#include "analysis/simulation/simulation.hpp"

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/simulation/simulated_heap.hpp"
#include "analysis/simulation/slab_array_heap.hpp"
#include "analysis/simulation/slabinfo_check.hpp"
#include "analysis/simulation/slob_heap.hpp"
#include "analysis/simulation/slub_heap.hpp"
#include "views/json/simulation.hpp"
#include "views/text/simulation.hpp"

namespace kmt {
namespace {

SlabMachine machine_of(unsigned cpus, KernelVersion version = {6, 1}) {
  SlabMachine machine;
  machine.cpus = cpus;
  machine.version = version;
  machine.arch = "x86_64";
  return machine;
}

// With 2 CPUs, a slab should have at least 12 objects: 4 × (fls(2) + 1).
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

// Before Linux 6.8, the kernel tries decreasing numbers of objects per slab. Newer kernels try increasing waste.
TEST(SlabGeometry, NewerKernelsTryWasteFirst) {
  // An object of 640 bytes in slabs of 8 KiB wastes 1/16: 7,680 of 8,192 bytes are used.
  EXPECT_EQ(slub_geometry(640, machine_of(2)).objects, 12u);
  EXPECT_EQ(slub_geometry(640, machine_of(2, {6, 18})).objects, 12u);
  // 3 objects of 10,000 bytes fit into order 3, and 2,768 bytes are left: more than 1/16, less than 1/8.
  EXPECT_EQ(slub_geometry(10000, machine_of(2)).order, 3u);
  // A slab of 32 KiB with one object of 17,000 bytes wastes almost half. Before Linux 6.8, the kernel did not try slabs
  // with so much waste; it used a slab for a single object.
  EXPECT_EQ(slub_geometry(17000, machine_of(2)).objects, 1u);
  EXPECT_EQ(slub_geometry(17000, machine_of(2, {6, 18})).order, 3u);
}

TEST(KmallocModel, NamesOfCachesShowThatTheCallSiteSelectsOne) {
  const auto is_random = [](const char* cache) {
    SimulationRequest request;
    request.slabinfo_before = {{.name = "kmalloc-64"}, {.name = cache}};
    return kmalloc_model(TraceInfo{}, request, {}).random_caches;
  };
  EXPECT_TRUE(is_random("kmalloc-rnd-01-64"));
  EXPECT_TRUE(is_random("kmalloc-part-01-64"));  // since Linux 7.2
  EXPECT_FALSE(is_random("kmalloc-no-objext-64"));
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

// Slabs have four objects of 8 KiB. The list of a CPU has at most 3 slabs (6 × 2 / 4); a node keeps 6 partial slabs
// (log2 8192 / 2).
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
  // When the first object of a full slab is freed, the slab moves to the CPU's list. The slab stays on the list when it
  // becomes empty.
  for (int i = 0; i < 4; ++i) release(slabs[static_cast<std::size_t>(i)]);
  EXPECT_EQ(heap.slabs(), 2u);
  // The active slab has three free objects. Further objects are taken from the empty slab on the list.
  for (int i = 0; i < 7; ++i) allocate();
  EXPECT_EQ(heap.slabs(), 2u);
  allocate();
  EXPECT_EQ(heap.slabs(), 3u);
}

TEST_F(Slub, FreesEmptySlabsThatTheNodeDoesNotNeed) {
  std::vector<std::uint32_t> slabs;
  for (int i = 0; i < 80; ++i) slabs.push_back(allocate());  // uses 20 slabs; the last one is the CPU's active slab
  EXPECT_EQ(heap.slabs(), 20u);
  for (const std::uint32_t slab : slabs) release(slab);
  // 19 slabs were full. When the CPU's list has 3 slabs and a fourth is added, the 3 slabs, which are empty by then,
  // move to the node. The node keeps 6 of them and frees the others. The 19th slab causes the last move, and is then
  // the only one on the list.
  EXPECT_EQ(heap.slabs(), 1u + 6u + 1u);
  EXPECT_EQ(heap.partial_slabs(), 6u + 1u);
}

TEST_F(Slub, StartsWithTheExistingSlabs) {
  // 2 of 12 objects are free, both in one slab; half of the objects in the CPU's active slab count as used.
  heap.start_with(3, 2);
  EXPECT_EQ(heap.slabs(), 3u);
  for (int i = 0; i < 4; ++i) allocate();
  EXPECT_EQ(heap.slabs(), 3u);
  allocate();
  EXPECT_EQ(heap.slabs(), 4u);
  // Frees two objects of one slab that existed at the start. The slab then moves to the CPU's list, and is used when
  // the active slab is full.
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
  EXPECT_EQ(geometry.objects, 8u);  // objects of this size fill a page completely
  SlabArrayHeap heap(geometry, machine);
  std::vector<std::uint32_t> objects;
  for (int i = 0; i < 9; ++i) objects.push_back(heap.allocate(512, 0, -1));
  EXPECT_EQ(heap.held_bytes(), 2u * 4096);
  EXPECT_EQ(heap.partial_slabs(), 0u) << "the array has all objects of the second slab";
  // The CPU's array has room for 54 objects, so no slab is freed.
  for (const std::uint32_t object : objects) heap.release(object, 512, 0);
  EXPECT_EQ(heap.held_bytes(), 2u * 4096);
}

TEST(Slob, PacksDifferentSizes) {
  const SlabMachine machine = machine_of(1);
  SlobHeap heap(machine);
  EXPECT_EQ(SlobHeap::object_bytes(100, true, machine), 112u);
  EXPECT_EQ(SlobHeap::object_bytes(100, false, machine), 104u);
  EXPECT_EQ(SlobHeap::object_bytes(4096, false, machine), 4096u);
  // A request of a page or more gets whole pages, without a header.
  EXPECT_EQ(SlobHeap::object_bytes(4090, true, machine), 4096u);
  const std::uint32_t first = heap.allocate(2048, 0, -1);
  const std::uint32_t second = heap.allocate(1536, 0, -1);
  EXPECT_EQ(heap.held_bytes(), 4096u);
  const std::uint32_t third = heap.allocate(1024, 0, -1);  // the page has only 512 bytes left
  EXPECT_EQ(heap.held_bytes(), 8192u);
  heap.release(first, 2048, 0);
  heap.release(second, 1536, 0);
  EXPECT_EQ(heap.held_bytes(), 4096u);
  heap.release(third, 1024, 0);
  EXPECT_EQ(heap.held_bytes(), 0u);
  heap.allocate(8192, 0, -1);
  EXPECT_EQ(heap.held_bytes(), 8192u);
}

// expected values follow from mm/slob.c of Linux 6.1
TEST(Slob, AlignsLikeTheArchitecture) {
  SlabMachine arm = machine_of(1);
  arm.arch = "aarch64";
  EXPECT_EQ(SlobHeap::object_bytes(8, true, arm), 256u);
  EXPECT_EQ(SlobHeap::object_bytes(128, true, arm), 256u);
  EXPECT_EQ(SlobHeap::object_bytes(129, true, arm), 384u);
  EXPECT_EQ(SlobHeap::object_bytes(3968, true, arm), 4096u);
  EXPECT_EQ(SlobHeap::object_bytes(100, false, arm), 104u) << "caches are aligned to words";
}

// The value is 10 until time 4, 30 until 5, and 0 until 10. The average is 70 / 10.
TEST(TimeIntegral, Averages) {
  TimeIntegral sum;
  sum.change(10, 0);
  sum.change(20, 4);
  sum.change_back(30, 5);
  EXPECT_EQ(sum.average(0, 10), 7u);
}

// 1,000 objects of 600 bytes are live in kmalloc-1k, with 4 objects in 4 KiB. A cache of 600-byte objects has 13 in 8
// KiB.
TEST(Suggestions, ChooseTheLargestSaving) {
  const SlabMachine machine = machine_of(2);
  const std::vector<ProfiledKind> kinds = {
      {"big+0x1", "big", "kmalloc-1k", 600, 1024, 1000, 1'000'000},
      {"other+0x1", "other", "kmalloc-1k", 1000, 1024, 1000, 1'000'000},
      {"soon_freed+0x1", "soon_freed", "kmalloc-96", 72, 96, 1'000'000, 0},
  };
  const std::vector<std::uint64_t> classes = kmalloc_classes(8, machine);
  const auto held = suggestion_candidates(kinds, classes, machine, {5, false});
  ASSERT_FALSE(held.empty());
  EXPECT_EQ(held[0].function, "big");
  EXPECT_EQ(held[0].object_bytes, 600u);
  EXPECT_EQ(held[0].class_bytes, 1024u);
  EXPECT_EQ(held[0].above_bytes, 512u);
  EXPECT_EQ(held[0].bytes_given - held[0].bytes_given_then, 424'000u);
  const auto given = suggestion_candidates(kinds, classes, machine, {1, true});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].function, "soon_freed");
  EXPECT_EQ(given[0].bytes_given - given[0].bytes_given_then, 24'000'000u);
  EXPECT_TRUE(suggestion_candidates(kinds, classes, machine, {5, true, 24'000'001}).empty());
}

// kmalloc chooses one of several caches by call site. An option that names a kmalloc size applies to all of them.
TEST(SiteCaches, IncludeRandomisedCaches) {
  const SlabMachine machine = machine_of(2);
  ObjectKind kind;
  kind.cache = "kmalloc-64";
  kind.origin.allocator = Allocator::slab;
  kind.origin.bytes_requested = 40;
  kind.origin.bytes_allocated = 64;
  choose_random_cache(kind, 0xffffffff81234567, machine);
  ASSERT_TRUE(kind.cache.starts_with("kmalloc-64 (random ")) << kind.cache;
  EXPECT_EQ(without_random(kind.cache), "kmalloc-64");
  SlabLayout layout;
  layout.only = {"kmalloc-64"};
  layout.site_caches.push_back({"", 32, 40});
  EXPECT_EQ(choose_cache(layout, kind, "f+0x1", machine).cache, "kmalloc-40" + kind.cache.substr(10));
  HeapSimulation heap(layout, machine, false);
  heap.kind(kind, "f+0x1");
  heap.began(0, 1, 0, 0, -1, false);
  EXPECT_EQ(heap.result(1).allocations, 1u);
}

CacheSuggestion replayed(const std::string& function, std::uint64_t bytes, std::uint64_t held, std::uint64_t then) {
  CacheSuggestion suggestion;
  suggestion.function = function;
  suggestion.above_bytes = 512;
  suggestion.object_bytes = bytes;
  suggestion.class_bytes = 1024;
  suggestion.average_held = held;
  suggestion.average_held_then = then;
  return suggestion;
}

// The results of the replays must decide, not the estimates made before.
TEST(Suggestions, StateTheSavingOfReplays) {
  const std::vector<CacheSuggestion> candidates = {
      replayed("costs", 600, 1000, 1200), replayed("saves_little", 600, 1000, 990), replayed("", 640, 5000, 4900),
      replayed("same", 600, 1000, 1000),  replayed("saves_most", 800, 1000, 300),
  };
  const auto functions = [&](const SuggestionRequest& request) {
    std::vector<std::string> names;
    for (const CacheSuggestion& one : best_suggestions(candidates, request)) names.push_back(one.function);
    return names;
  };
  // A class for 513 to 640 bytes would take objects that the caches of single functions take too, so it is not
  // suggested together with these caches.
  EXPECT_EQ(functions({5, false, 1}), (std::vector<std::string>{"saves_most", "saves_little"}));
  EXPECT_EQ(functions({1, false, 1}), (std::vector<std::string>{"saves_most"}));
  // Smaller savings than 11 bytes are not suggested.
  EXPECT_EQ(functions({5, false, 11}), (std::vector<std::string>{"saves_most"}));
  EXPECT_EQ(functions({5, true}), (std::vector<std::string>{"costs", "saves_little", "", "same", "saves_most"}));
}

// 96 objects of 40 bytes need two slabs of 64 objects of 64 bytes, but only one slab of 102 objects of 40 bytes. An
// estimate that adds half an unused slab would miss this saving.
TEST(Suggestions, CandidatesIncludeMoreThanTheEstimateSelects) {
  const SlabMachine machine = machine_of(2);
  const std::vector<ProfiledKind> kinds = {{"few+0x1", "few", "kmalloc-64", 40, 64, 96, 96'000}};
  const auto candidates = suggestion_candidates(kinds, kmalloc_classes(8, machine), machine, {5, false});
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].object_bytes, 40u);
}

// Because of a few larger objects, the estimate chooses a class for all of them. The most frequent size must be
// replayed too.
TEST(Suggestions, TryTheMostFrequentSizes) {
  const SlabMachine machine = machine_of(2);
  const std::vector<ProfiledKind> kinds = {{"pipe+0x1", "pipe", "kmalloc-1k", 637, 1024, 3561, 3'561'000},
                                           {"late+0x1", "late", "kmalloc-1k", 680, 1024, 51, 51'000},
                                           {"other+0x1", "other", "kmalloc-1k", 1020, 1024, 10, 10'000}};
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> tried;
  for (const CacheSuggestion& one : suggestion_candidates(kinds, kmalloc_classes(8, machine), machine, {5, false})) {
    EXPECT_GT(one.allocations, 0u);
    tried[{one.function, one.object_bytes}] = one.of_its_size;
  }
  EXPECT_EQ(tried.at({"", 640}), 3561u);
  EXPECT_EQ(tried.at({"", 680}), 51u);
}

// A difference within the uncertainty must not decide between two sizes, nor between a class and a cache for a
// function.
TEST(Suggestions, PreferTheMostFrequentSizeIfItSavesAsMuch) {
  CacheSuggestion odd = replayed("", 680, 5000, 4000);
  odd.uncertain_bytes = 100;
  odd.of_its_size = 51;
  CacheSuggestion plain = replayed("", 640, 5000, 4100);
  plain.of_its_size = 3561;
  CacheSuggestion of_one = replayed("pipe", 640, 5000, 4050);
  of_one.of_its_size = 4000;
  const auto best = [&] { return best_suggestions({plain, of_one, odd}, {5, false, 1}); };
  ASSERT_EQ(best().size(), 1u);
  EXPECT_EQ(best()[0].object_bytes, 640u);
  EXPECT_EQ(best()[0].function, "");
  plain.average_held_then = 4101;
  ASSERT_EQ(best().size(), 1u);
  EXPECT_EQ(best()[0].object_bytes, 680u);
  odd.uncertain_bytes = 5000;
  plain.average_held_then = 5000;  // saves nothing
  EXPECT_EQ(best()[0].object_bytes, 680u);
}

// On 32-bit machines, object sizes of caches are multiples of 4 bytes, and sizes of kmalloc classes are multiples of 8
// bytes.
TEST(Suggestions, UseTheMostFrequentSizeOfACache) {
  SlabMachine machine = machine_of(2);
  machine.word_bytes = 4;
  const std::vector<ProfiledKind> kinds = {{"pipe+0x1", "pipe", "kmalloc-1k", 636, 1024, 3561, 3'561'000},
                                           {"other+0x1", "other", "kmalloc-1k", 1020, 1024, 9000, 9'000'000}};
  const auto candidates = suggestion_candidates(kinds, kmalloc_classes(8, machine), machine, {5, false});
  const auto of_pipe = std::ranges::find(candidates, "pipe", &CacheSuggestion::function);
  ASSERT_NE(of_pipe, candidates.end());
  EXPECT_EQ(of_pipe->object_bytes, 636u);
  EXPECT_EQ(of_pipe->of_its_size, 3561u);
}

// If savings differ by less than their uncertainty, the most frequent size needs only half of the largest saving.
TEST(Suggestions, OfASimplerSizeNeedHalfTheSaving) {
  CacheSuggestion odd = replayed("", 680, 5000, 4000);
  odd.uncertain_bytes = 100'000;
  odd.of_its_size = 51;
  CacheSuggestion plain = replayed("", 640, 5000, 4500);
  plain.of_its_size = 3561;
  EXPECT_EQ(best_suggestions({odd, plain}, {5, false, 1}).front().object_bytes, 640u);
  plain.average_held_then = 4501;
  EXPECT_EQ(best_suggestions({odd, plain}, {5, false, 1}).front().object_bytes, 680u);
}

// A function allocates objects of two sizes. Only the larger ones benefit from a cache.
TEST(SiteCaches, IgnoreObjectsThatFitSmallerClasses) {
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
  EXPECT_EQ(cache_of(640, 1024).site, 0u);
  EXPECT_EQ(cache_of(160, 192).site, std::nullopt);
  EXPECT_EQ(cache_of(160, 192).cache, "kmalloc-192");
  EXPECT_EQ(cache_of(641, 1024).cache, "kmalloc-1024");
  layout.classes = {8, 1024};  // now no class below 1024 is large enough for 160 bytes
  EXPECT_EQ(cache_of(160, 192).cache, "pipe*-640");
}

SlabInfo slabs_of(const std::string& name, std::uint64_t bytes, std::uint64_t objects, std::uint64_t pages,
                  std::uint64_t slabs) {
  SlabInfo slab;
  slab.name = name;
  slab.active_objects = slab.objects = objects * slabs;
  slab.object_bytes = bytes;
  slab.objects_per_slab = objects;
  slab.pages_per_slab = pages;
  slab.slabs = slabs;
  return slab;
}

// If events do not name caches, an object of 192 bytes may be in any cache of this size.
TEST(Slabinfo, SizesOfUnequalSlabsAreNotCompared) {
  const SlabMachine machine = machine_of(2);
  const std::vector<SlabInfo> slabinfo = {slabs_of("one", 192, 21, 1, 3),        slabs_of("other", 192, 42, 2, 4),
                                          slabs_of("alike", 192, 21, 1, 5),      slabs_of("alone", 512, 16, 2, 6),
                                          slabs_of("too_many", 4096, 100, 1, 7), slabs_of("empty", 4096, 100, 1, 0)};
  const SlabinfoComparison by_size = SlabinfoCheck(slabinfo, machine, true).compare(slabinfo);
  EXPECT_EQ(by_size.caches, 1u);
  EXPECT_EQ(by_size.pages_before, 12u);
  EXPECT_EQ(by_size.pages_after, 12u);
  EXPECT_EQ(by_size.not_compared, 4u);
  std::vector<SlabInfo> after = slabinfo;
  after.push_back(slabs_of("new", 64, 64, 1, 1));
  const SlabinfoComparison by_name = SlabinfoCheck(slabinfo, machine, false).compare(after);
  EXPECT_EQ(by_name.caches, 4u);
  EXPECT_EQ(by_name.pages_after, 3u + 8u + 5u + 12u);
  EXPECT_EQ(by_name.not_compared, 2u);
}

// Debian's Linux 7.2: 2 CPUs on one node hold up to 16 sheaves of a cache. A sheaf of 192-byte objects has 60 objects.
TEST(Slabinfo, SheavesMayHoldTheErrorOfAPrediction) {
  SlabMachine machine;
  machine.version = {7, 2};
  machine.cpus = 2;
  const std::vector<SlabInfo> before = {slabs_of("dentry", 192, 21, 1, 100), slabs_of("kmem_cache", 192, 21, 1, 100)};
  const std::vector<SlabInfo> after = {slabs_of("dentry", 192, 21, 1, 170), slabs_of("kmem_cache", 192, 21, 1, 107)};
  const SlabinfoComparison compared = SlabinfoCheck(before, machine, false).compare(after);
  EXPECT_EQ(compared.error_pages, 77u);
  EXPECT_EQ(compared.error_in_sheaves, (16u * 60 + 20) / 21);
  machine.version = {6, 12};
  EXPECT_EQ(SlabinfoCheck(before, machine, false).compare(after).error_in_sheaves, 0u);
}

// If no suggestion was requested, the output must not mention new caches.
TEST(SimulationText, MentionsOnlyRequestedResults) {
  SimulationResult result;
  result.trace.complete = true;
  result.heaps.resize(1);
  const auto text = [&result] { return text_simulation(result, {}, {}); };
  EXPECT_NE(text().find("this trace has no allocations"), std::string::npos);
  result.trace.complete = false;
  EXPECT_EQ(text().find("this trace has no"), std::string::npos);
  EXPECT_NE(text().find("Nothing was simulated"), std::string::npos);
  result.trace.complete = true;
  result.heaps[0].allocations = 1;
  EXPECT_EQ(text().find("suggested"), std::string::npos);
  EXPECT_NE(json_simulation(result, {}).find("\"candidates\": null"), std::string::npos);
  result.candidates = 0;
  EXPECT_NE(text().find("No new cache or class is suggested: no kmalloc request"), std::string::npos);
  result.candidates = 1;
  EXPECT_NE(text().find("of 1 candidate"), std::string::npos);
  EXPECT_NE(json_simulation(result, {}).find("\"candidates\": 1"), std::string::npos);
}

// The model cannot be right for a cache whose objects are mostly freed without an event.
TEST(SimulationText, ExplainsErrorsOfPredictedPages) {
  SimulationResult result;
  result.trace.complete = true;
  result.heaps.resize(1);
  result.heaps[0].allocations = 1;
  result.unseen_frees = {{"maple_node", 92, 100}, {"filp", 4, 9}};
  result.slabinfo.emplace();
  result.slabinfo->lines = {
      {"maple_node", 79, 92, 1815, 40}, {"filp", 5, 6, 7, 0}, {"dentry", 80, 91, 86, 5}, {"pid", 1, 2, 2, 3}};
  const std::string text = text_simulation(result, {}, {});
  EXPECT_NE(text.find("- maple_node 92 pages after, not 1,815: 92.0% of its objects were freed on untraced paths"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("- filp 6 pages after, not 7\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- dentry 91 pages after, not 86 (its sheaves can hold 5 pages)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("- pid"), std::string::npos) << text;
  EXPECT_NE(text.find("96 objects ended"), std::string::npos) << text;
}

}  // namespace
}  // namespace kmt
