// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/page_counter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kmt {

namespace {

// Flags that say nothing about the owner of a kernel page: "idle_page" and "softdirty".
constexpr std::uint64_t kUninformative = 1ull << 25 | 1ull << 40;

constexpr std::array kMovableKinds = {PageKind::anonymous, PageKind::ksm, PageKind::swap_cache, PageKind::file,
                                      PageKind::shmem};
constexpr std::array kUnmovableKinds = {PageKind::slab, PageKind::page_tables, PageKind::other};

std::uint64_t sum_of_kinds(const PagesByKind& pages, std::span<const PageKind> kinds) {
  std::uint64_t sum = 0;
  for (const PageKind kind : kinds) sum += pages[index_of(kind)];
  return sum;
}

// Returns the order of the largest block that is not larger than this number of pages.
std::size_t order_of(std::uint64_t pages) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(pages)) - 1, kPageOrders - 1);
}

bool may_be_in_cgroup(PageKind kind) {
  return kind != PageKind::free && kind != PageKind::reserved && kind != PageKind::no_page;
}

}  // namespace

PageKind page_kind(std::uint64_t flags, std::uint64_t cgroup) {
  const auto has = [flags](std::uint64_t wanted) { return (flags & wanted) != 0; };
  if (has(kPageNoPage)) return PageKind::no_page;
  if (has(kPageReserved)) return PageKind::reserved;
  if (has(kPageHwPoison)) return PageKind::poisoned;
  if (has(kPageBuddy)) return PageKind::free;
  if (has(kPageSlab)) return PageKind::slab;
  if (has(kPageOffline)) return PageKind::offline;
  if (has(kPagePgtable)) return PageKind::page_tables;
  if (has(kPageHuge)) return PageKind::hugetlb;
  if (has(kPageZero)) return PageKind::zero_page;
  if (has(kPageKsm)) return PageKind::ksm;
  if (has(kPageSwapCache) && !has(kPageMmap)) return PageKind::swap_cache;
  if (has(kPageAnon)) return PageKind::anonymous;
  if (has(kPageSwapBacked)) return PageKind::shmem;
  if (has(kPageLru)) return PageKind::file;
  return has(~kUninformative) || cgroup != 0 ? PageKind::other : PageKind::unmarked;
}

bool PageCounter::continues_run(std::uint64_t word) const {
  if (run_.pages == 0) return false;
  if ((word & kPageTail) != 0) return (run_.flags & (kPageHead | kPageTail)) != 0;
  return run_.kind == PageKind::free && page_kind(word, 0) == PageKind::free;
}

void PageCounter::add(std::uint64_t first, std::span<const std::uint64_t> flags,
                      std::span<const std::uint64_t> cgroups) {
  if (run_.pages != 0 && first != run_.first + run_.pages) end_run();
  census_.frames += flags.size();
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::uint64_t word = flags[i];
    if (continues_run(word)) {
      ++run_.pages;
      continue;
    }
    end_run();
    const std::uint64_t cgroup = cgroups.empty() ? 0 : cgroups[i];
    run_ = {first + i, 1, word, cgroup, page_kind(word, cgroup)};
  }
}

void PageCounter::end_run() {
  if (run_.pages == 0) return;
  const std::size_t kind = index_of(run_.kind);
  census_.pages[kind] += run_.pages;
  if (run_.kind == PageKind::free)
    count_free_blocks();
  else
    ++census_.blocks[kind][order_of(run_.pages)];
  count_in_pageblocks();
  if (run_.kind == PageKind::other || run_.kind == PageKind::unmarked)
    other_flags_[run_.flags & ~kUninformative & ~(kPageHead | kPageTail)] += run_.pages;
  if (may_be_in_cgroup(run_.kind)) of_cgroup(run_.cgroup)[kind] += run_.pages;
  run_.pages = 0;
}

// Divides a run of free pages into the largest naturally aligned blocks, as the page allocator merges them.
void PageCounter::count_free_blocks() {
  BlocksByOrder& blocks = census_.blocks[index_of(PageKind::free)];
  const std::uint64_t end = run_.first + run_.pages;
  for (std::uint64_t at = run_.first; at < end;) {
    const auto aligned = at == 0 ? max_order_ : static_cast<unsigned>(std::countr_zero(at));
    const std::size_t order = std::min<std::size_t>({aligned, max_order_, order_of(end - at)});
    ++blocks[order];
    at += std::uint64_t{1} << order;
  }
}

void PageCounter::count_in_pageblocks() {
  const std::uint64_t end = run_.first + run_.pages;
  for (std::uint64_t at = run_.first; at < end;) {
    const std::uint64_t block = at >> block_order_;
    if (block_ != block) {
      end_pageblock();
      block_ = block;
    }
    const std::uint64_t here = std::min(end, (block + 1) << block_order_) - at;
    in_block_[index_of(run_.kind)] += here;
    if (run_.kind == PageKind::slab) slabs_in_block_.push_back({run_.first, here});
    at += here;
  }
}

// Keeps each block with the same probability (reservoir sampling).
void PageCounter::keep_mixed_block(bool has_other) {
  constexpr std::uint64_t kMost = 1024;  // the standard error of a share of 10 % is then about 1 %
  if (slabs_in_block_.empty()) return;
  const std::uint64_t place = mixed_with_slabs_ < kMost ? mixed_with_slabs_ : random_() % (mixed_with_slabs_ + 1);
  ++mixed_with_slabs_;
  if (place >= kMost) return;
  if (place == mixed_.size()) mixed_.emplace_back();
  mixed_[static_cast<std::size_t>(place)] = {slabs_in_block_, has_other};
}

void PageCounter::end_pageblock() {
  const PagesByKind pages = std::exchange(in_block_, {});
  classify_pageblock(pages);
  slabs_in_block_.clear();
}

void PageCounter::classify_pageblock(const PagesByKind& pages) {
  const std::uint64_t movable = sum_of_kinds(pages, kMovableKinds);
  const std::uint64_t unmovable = sum_of_kinds(pages, kUnmovableKinds);
  const std::uint64_t free = pages[index_of(PageKind::free)];
  PageblockUse& use = census_.pageblocks;
  std::uint64_t all = 0;
  for (const std::uint64_t count : pages) all += count;
  if (all == 0) return;
  if (all == pages[index_of(PageKind::reserved)] + pages[index_of(PageKind::no_page)]) {
    use.reserved = use.reserved.value_or(0) + 1;
    return;
  }
  ++use.all;
  if (free + pages[index_of(PageKind::reserved)] + pages[index_of(PageKind::no_page)] == all) ++use.free;
  const std::uint64_t unmarked = pages[index_of(PageKind::unmarked)];
  if (unmovable == 0) {
    if (unmarked != 0)
      ++use.uncertain;
    else if (movable != 0)
      ++use.movable;
    return;
  }
  if (movable == 0) {
    ++use.unmovable;
    return;
  }
  ++use.mixed;
  ++use.mixed_by_unmovable[order_of(unmovable + unmarked)];
  keep_mixed_block(unmovable + unmarked != pages[index_of(PageKind::slab)]);
  for (std::size_t i = 0; i < kPageKinds; ++i) use.in_mixed[i] += pages[i];
}

PagesByKind& PageCounter::of_cgroup(std::uint64_t inode) {
  if (pages_of_last_ == nullptr || last_cgroup_ != inode) {
    pages_of_last_ = &cgroups_[inode];
    last_cgroup_ = inode;
  }
  return *pages_of_last_;
}

PageCensus PageCounter::finish() {
  end_run();
  end_pageblock();
  census_.pageblocks.order = block_order_;
  census_.pageblocks.reserved = census_.pageblocks.reserved.value_or(0);
  for (const auto& [flags, pages] : other_flags_) census_.other_flags.push_back({flags, pages});
  std::ranges::sort(census_.other_flags, [](const PagesByFlags& a, const PagesByFlags& b) {
    return a.pages != b.pages ? a.pages > b.pages : a.flags < b.flags;
  });
  for (const auto& [inode, pages] : cgroups_) census_.cgroups.push_back({{}, inode, pages});
  std::ranges::sort(census_.cgroups, [](const CgroupPages& a, const CgroupPages& b) {
    const std::uint64_t kernel_a = other_kernel_pages(a.pages), kernel_b = other_kernel_pages(b.pages);
    return kernel_a != kernel_b ? kernel_a > kernel_b : a.inode < b.inode;
  });
  return std::move(census_);
}

}  // namespace kmt
