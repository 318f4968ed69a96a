// SPDX-License-Identifier: GPL-2.0-or-later
// Counts page frames by kind, order, cgroup and pageblock. The input is the words of /proc/kpageflags and
// /proc/kpagecgroup.
//
// The kernel's source defines the flags (stable_page_flags() in fs/proc/page.c):
// - Recent kernels show the head page's flags for all pages of a compound page. Older kernels show some of them,
//   such as LRU, only for the head. So all pages of a compound page count as the kind of its head.
// - Since Linux 4.6, all pages of a free block have the flag BUDDY, not only the first. Neighbouring free blocks then
//   form one run. The allocator merges free buddies, so the largest aligned blocks of a run are the free blocks.
// - Free pages on the CPUs' own lists have no flags, like many kernel pages. Freeing a page clears its cgroup and its
//   compound mark, so pages that have either are in use.
// - SLAB pages may also have the flags of anonymous pages, because slabs reuse the field of the mapping.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/snapshot/page_census.hpp"

namespace kmt {

// Bits of kernel-page-flags.h, and RESERVED of fs/proc/page.c.
enum PageFlag : std::uint64_t {
  kPageLru = 1ull << 5,
  kPageSlab = 1ull << 7,
  kPageBuddy = 1ull << 10,
  kPageMmap = 1ull << 11,
  kPageAnon = 1ull << 12,
  kPageSwapCache = 1ull << 13,
  kPageSwapBacked = 1ull << 14,
  kPageHead = 1ull << 15,
  kPageTail = 1ull << 16,
  kPageHuge = 1ull << 17,
  kPageHwPoison = 1ull << 19,
  kPageNoPage = 1ull << 20,
  kPageKsm = 1ull << 21,
  kPageOffline = 1ull << 23,
  kPageZero = 1ull << 24,
  kPagePgtable = 1ull << 26,
  kPageReserved = 1ull << 32,
};

// Returns the kind of a frame that is not the tail of a compound page. `cgroup` is its cgroup's inode number, or 0.
PageKind page_kind(std::uint64_t flags, std::uint64_t cgroup);

// A pageblock with both movable and unmovable pages.
struct MixedBlock {
  struct Slab {
    std::uint64_t frame = 0;  // first frame of the slab
    std::uint64_t pages = 0;  // in this block
  };
  std::vector<Slab> slabs;
  bool has_other = false;  // true if it also has other pages that are or may be unmovable
};

class PageCounter {
 public:
  // `block_order` is the order of a pageblock, and `max_order` that of the page allocator's largest free blocks.
  PageCounter(unsigned block_order, unsigned max_order) : block_order_(block_order), max_order_(max_order) {}

  // Counts consecutive frames. `first` is the number of the first frame. `cgroups` has the inode numbers of the frames'
  // cgroups, and may be empty. Calls must be in the order of the frames, but frames may be skipped.
  void add(std::uint64_t first, std::span<const std::uint64_t> flags, std::span<const std::uint64_t> cgroups);
  // Returns the mixed blocks that have slabs. If there are very many, returns a random sample. Call it after finish().
  std::vector<MixedBlock> take_mixed_blocks() { return std::move(mixed_); }
  // Call it once after the last frame. Fills in frames, pages, blocks, other_flags, cgroups (without paths) and
  // pageblocks.
  PageCensus finish();

 private:
  // A compound page, a single page, or neighbouring free pages.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t pages = 0;
    std::uint64_t flags = 0;   // flags of the first page
    std::uint64_t cgroup = 0;  // cgroup of the first page
    PageKind kind = PageKind::no_page;
  };

  bool continues_run(std::uint64_t word) const;
  void end_run();
  void count_free_blocks();
  void count_in_pageblocks();
  void end_pageblock();
  void classify_pageblock(const PagesByKind& pages);
  void keep_mixed_block(bool has_other);
  PagesByKind& of_cgroup(std::uint64_t inode);

  unsigned block_order_;
  unsigned max_order_;
  PageCensus census_;
  Run run_;
  std::optional<std::uint64_t> block_;  // number of the current pageblock
  PagesByKind in_block_{};
  std::vector<MixedBlock::Slab> slabs_in_block_;
  std::vector<MixedBlock> mixed_;
  std::uint64_t mixed_with_slabs_ = 0;  // number of blocks from which mixed_ is a sample
  std::mt19937_64 random_{20080814};    // any constant: the same machine gives the same sample
  std::unordered_map<std::uint64_t, std::uint64_t> other_flags_;  // key: flags; value: number of pages
  std::unordered_map<std::uint64_t, PagesByKind> cgroups_;        // key: inode number of the cgroup
  std::uint64_t last_cgroup_ = 0;
  PagesByKind* pages_of_last_ = nullptr;  // points into cgroups_
};

}  // namespace kmt
