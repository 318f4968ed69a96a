// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/page_counter.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace kmt {
namespace {

// Bits as numbered in include/uapi/linux/kernel-page-flags.h, written out so that the test does not use the program's
// table.
constexpr std::uint64_t kLru = 1 << 5, kSlab = 1 << 7, kBuddy = 1 << 10, kMmap = 1 << 11, kAnon = 1 << 12;
constexpr std::uint64_t kSwapCache = 1 << 13, kSwapBacked = 1 << 14, kHead = 1 << 15, kTail = 1 << 16, kHuge = 1 << 17;
constexpr std::uint64_t kHwPoison = 1 << 19, kNoPage = 1 << 20, kKsm = 1 << 21, kThp = 1 << 22, kOffline = 1 << 23;
constexpr std::uint64_t kZero = 1 << 24, kIdle = 1 << 25, kPgtable = 1 << 26;
constexpr std::uint64_t kReserved = 1ull << 32, kPrivate = 1ull << 35;

using Words = std::vector<std::uint64_t>;

Words repeated(std::uint64_t word, std::size_t count) { return Words(count, word); }

Words compound(std::uint64_t word, std::size_t count) {
  Words words(count, word | kTail);
  words[0] = word | kHead;
  return words;
}

Words joined(std::initializer_list<Words> parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

PageCensus census_of(const Words& flags, std::uint64_t first = 0, const Words& cgroups = {}) {
  PageCounter counter(3, 10);  // pageblocks of 8 pages
  counter.add(first, flags, cgroups);
  return counter.finish();
}

std::uint64_t pages(const PageCensus& census, PageKind kind) { return census.pages[index_of(kind)]; }
std::uint64_t blocks(const PageCensus& census, PageKind kind, std::size_t order) {
  return census.blocks[index_of(kind)][order];
}

TEST(PageCounter, GivesEachFrameOneKind) {
  const std::pair<std::uint64_t, PageKind> kCases[] = {
      {kNoPage, PageKind::no_page},
      {kReserved | kPrivate, PageKind::reserved},
      {kHwPoison | kLru, PageKind::poisoned},
      {kBuddy, PageKind::free},
      {kSlab, PageKind::slab},
      {kSlab | kAnon | kKsm, PageKind::slab},  // Linux 6.18 shows the slab's free list as a mapping
      {kOffline, PageKind::offline},
      {kPgtable | kMmap, PageKind::page_tables},
      {kHuge, PageKind::hugetlb},
      {kZero | kThp, PageKind::zero_page},
      {kLru | kAnon | kKsm | kMmap, PageKind::ksm},
      {kLru | kAnon | kMmap | kSwapBacked, PageKind::anonymous},
      {kLru | kAnon | kMmap, PageKind::anonymous},  // MADV_FREE clears SWAPBACKED
      {kAnon | kMmap | kSwapBacked, PageKind::anonymous},
      {kLru | kAnon | kMmap | kSwapBacked | kSwapCache, PageKind::anonymous},
      {kLru | kAnon | kSwapBacked | kSwapCache, PageKind::swap_cache},
      {kLru | kSwapBacked | kSwapCache, PageKind::swap_cache},
      {kLru | kSwapBacked | kMmap, PageKind::shmem},
      {kLru, PageKind::file},
      {kPrivate, PageKind::other},
      {kMmap, PageKind::other},
      {0, PageKind::unmarked},
      {kIdle, PageKind::unmarked},
  };
  for (const auto& [flags, kind] : kCases) {
    const PageCensus census = census_of({flags});
    EXPECT_EQ(census.frames, 1u);
    EXPECT_EQ(pages(census, kind), 1u) << names_of_page_flags(flags);
    EXPECT_EQ(std::ranges::count(census.pages, 0u), static_cast<std::ptrdiff_t>(kPageKinds - 1));
  }
}

// Before Linux 6.10, LRU and SWAPBACKED are only at the head of a large page.
TEST(PageCounter, CountsTailsAsTheirHead) {
  Words words = joined({compound(0, 4), compound(kSlab, 8)});
  words[0] |= kLru | kSwapBacked | kThp;
  words[5] = kTail;  // the tail of a slab, without the slab flag
  const PageCensus census = census_of(words);
  EXPECT_EQ(pages(census, PageKind::shmem), 4u);
  EXPECT_EQ(pages(census, PageKind::slab), 8u);
  EXPECT_EQ(blocks(census, PageKind::shmem, 2), 1u);
  EXPECT_EQ(blocks(census, PageKind::slab, 3), 1u);
}

TEST(PageCounter, JoinsCompoundPagesOfConsecutiveCalls) {
  const Words words = compound(kLru | kThp, 512);
  PageCounter counter(9, 10);
  counter.add(1024, std::span(words).first(100), {});
  counter.add(1124, std::span(words).subspan(100), {});
  const PageCensus census = counter.finish();
  EXPECT_EQ(census.frames, 512u);
  EXPECT_EQ(blocks(census, PageKind::file, 9), 1u);
}

// A gap in the frame numbers between two calls of add() ends a block, even if both sides have the same flags.
TEST(PageCounter, DoesNotJoinAcrossSkippedFrames) {
  const Words words = repeated(kBuddy, 4);
  PageCounter counter(3, 10);
  counter.add(0, words, {});
  counter.add(12, words, {});
  const PageCensus census = counter.finish();
  EXPECT_EQ(blocks(census, PageKind::free, 2), 2u);
  EXPECT_EQ(census.pageblocks.all, 2u);
}

TEST(PageCounter, CountsNeighbouringCompoundPagesSeparately) {
  const PageCensus census = census_of(joined({compound(kSlab, 2), compound(kSlab, 2), repeated(kSlab, 3)}));
  EXPECT_EQ(blocks(census, PageKind::slab, 1), 2u);
  EXPECT_EQ(blocks(census, PageKind::slab, 0), 3u);
}

// The allocator keeps naturally aligned blocks, so frames 1 to 14 are blocks of 1, 2, 4, 4, 2 and 1 pages.
TEST(PageCounter, DividesFreePagesIntoAlignedBlocks) {
  const PageCensus census = census_of(repeated(kBuddy, 14), 1);
  EXPECT_EQ(blocks(census, PageKind::free, 0), 2u);
  EXPECT_EQ(blocks(census, PageKind::free, 1), 2u);
  EXPECT_EQ(blocks(census, PageKind::free, 2), 2u);
  EXPECT_EQ(pages(census, PageKind::free), 14u);
}

TEST(PageCounter, LimitsFreeBlocksToTheLargestOrder) {
  const PageCensus census = census_of(repeated(kBuddy, 4096));
  EXPECT_EQ(blocks(census, PageKind::free, 10), 4u);
}

TEST(PageCounter, DividesMemoryAmongCgroups) {
  const Words flags = joined({compound(kLru, 2), {0}, {0}, {kBuddy}, {kSlab}, {kLru | kAnon}});
  const PageCensus census = census_of(flags, 0, {40, 0, 40, 0, 0, 0, 50});
  ASSERT_EQ(census.cgroups.size(), 3u);
  EXPECT_EQ(census.cgroups[0].inode, 0u);  // the same number of kernel pages: the smaller inode number comes first
  EXPECT_EQ(census.cgroups[0].pages[index_of(PageKind::unmarked)], 1u);
  EXPECT_EQ(census.cgroups[0].pages[index_of(PageKind::slab)], 1u);
  EXPECT_EQ(census.cgroups[0].all(), 2u) << "free pages belong to no cgroup";
  EXPECT_EQ(census.cgroups[1].inode, 40u);
  EXPECT_EQ(census.cgroups[1].pages[index_of(PageKind::other)], 1u) << "a page in a cgroup is not free";
  EXPECT_EQ(census.cgroups[1].pages[index_of(PageKind::file)], 2u) << "a tail counts for the cgroup of its head";
  EXPECT_EQ(census.cgroups[2].inode, 50u);
}

TEST(PageCounter, CountsKernelPagesByFlags) {
  const PageCensus census = census_of(joined({repeated(kPrivate, 2), compound(0, 4), {0}, {kMmap}}));
  ASSERT_EQ(census.other_flags.size(), 3u);
  EXPECT_EQ(census.other_flags[0].flags, 0u);
  EXPECT_EQ(census.other_flags[0].pages, 5u);
  EXPECT_EQ(census.other_flags[1].flags, kPrivate);
  EXPECT_EQ(census.other_flags[2].flags, kMmap);
  EXPECT_EQ(pages(census, PageKind::other), 7u);
  EXPECT_EQ(blocks(census, PageKind::other, 2), 1u);
}

// Six pageblocks of 8 pages: free, movable, unmovable, two mixed, uncertain, and one that is not used as memory.
TEST(PageCounter, FindsPageblocksWithMovableAndUnmovablePages) {
  const PageCensus census = census_of(joined({
      repeated(kBuddy, 8),
      compound(kLru, 4),
      repeated(kBuddy, 4),
      repeated(kSlab, 1),
      repeated(kBuddy, 7),
      repeated(kLru, 4),
      repeated(kSlab, 1),
      repeated(kPgtable, 2),
      {kPrivate},
      repeated(kLru, 7),
      {kPrivate},
      repeated(kLru, 7),
      {0},
      repeated(kReserved, 8),
  }));
  const PageblockUse& use = census.pageblocks;
  EXPECT_EQ(use.order, 3u);
  EXPECT_EQ(use.all, 6u);
  EXPECT_EQ(use.free, 1u);
  EXPECT_EQ(use.movable, 1u);
  EXPECT_EQ(use.unmovable, 1u);
  EXPECT_EQ(use.mixed, 2u);
  EXPECT_EQ(use.uncertain, 1u);
  EXPECT_EQ(use.in_mixed[index_of(PageKind::slab)], 1u);
  EXPECT_EQ(use.in_mixed[index_of(PageKind::page_tables)], 2u);
  EXPECT_EQ(use.in_mixed[index_of(PageKind::other)], 2u);
  EXPECT_EQ(use.mixed_by_unmovable[0], 1u);  // a block with one unmovable page
  EXPECT_EQ(use.mixed_by_unmovable[2], 1u);  // a block with four
}

// The slabs of mixed pageblocks are kept, so that their caches can be read. A slab of another block is not.
TEST(PageCounter, KeepsTheSlabsOfMixedPageblocks) {
  PageCounter counter(3, 10);  // pageblocks of 8 pages
  const std::vector<std::uint64_t> flags = joined({
      compound(kSlab, 4),
      repeated(kBuddy, 4),  // no movable page
      {kSlab},
      compound(kSlab, 2),
      repeated(kLru, 5),  // only slabs are unmovable
      {kSlab},
      {kPgtable},
      repeated(kLru, 6),  // also a page table
      {kSlab},
      {0},
      repeated(kLru, 6),  // also a page without flags
      {kPgtable},
      repeated(kLru, 7),  // no slab
      repeated(kReserved, 8),
  });
  counter.add(0, flags, {});
  const PageCensus census = counter.finish();
  EXPECT_EQ(census.pageblocks.mixed, 4u);
  EXPECT_EQ(census.pageblocks.reserved, 1u);
  const std::vector<MixedBlock> blocks = counter.take_mixed_blocks();
  ASSERT_EQ(blocks.size(), 3u);
  ASSERT_EQ(blocks[0].slabs.size(), 2u);
  EXPECT_EQ(blocks[0].slabs[1].frame, 9u);
  EXPECT_EQ(blocks[0].slabs[1].pages, 2u);
  EXPECT_FALSE(blocks[0].has_other);
  EXPECT_EQ(blocks[1].slabs.front().frame, 16u);
  EXPECT_TRUE(blocks[1].has_other);
  EXPECT_TRUE(blocks[2].has_other);
}

// If there are very many mixed blocks, each is kept with the same probability.
TEST(PageCounter, KeepsASampleOfManyMixedPageblocks) {
  PageCounter counter(3, 10);
  constexpr std::uint64_t kBlocks = 20'000;
  const std::vector<std::uint64_t> block = joined({{kSlab}, repeated(kLru, 7)});
  for (std::uint64_t i = 0; i < kBlocks; ++i) counter.add(8 * i, block, {});
  EXPECT_EQ(counter.finish().pageblocks.mixed, kBlocks);
  const std::vector<MixedBlock> blocks = counter.take_mixed_blocks();
  ASSERT_EQ(blocks.size(), 1024u);
  const auto late =
      std::ranges::count_if(blocks, [](const MixedBlock& one) { return one.slabs[0].frame >= 4 * kBlocks; });
  EXPECT_NEAR(static_cast<double>(late), 512, 100) << "six standard deviations";
}

// A huge page of 16 pages spans two pageblocks.
TEST(PageCounter, CountsLargePagesInEachPageblock) {
  const PageCensus census = census_of(joined({compound(kLru, 16), {kSlab}}));
  EXPECT_EQ(census.pageblocks.all, 3u);
  EXPECT_EQ(census.pageblocks.movable, 2u);
  EXPECT_EQ(census.pageblocks.unmovable, 1u);
}

TEST(PageFlags, HaveTheNamesOfPageTypes) {
  EXPECT_EQ(names_of_page_flags(0), "none");
  EXPECT_EQ(names_of_page_flags(kMmap | kPrivate), "mmap, private");
  EXPECT_EQ(names_of_page_flags(kPgtable | kReserved), "pgtable, reserved");
  EXPECT_EQ(names_of_page_flags(1ull << 60), "bit_60");
}

}  // namespace
}  // namespace kmt
