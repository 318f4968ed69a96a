// SPDX-License-Identifier: GPL-2.0-or-later
// Models the heap of SLOB (mm/slob.c, Linux 6.1; removed in 6.4). All caches share pages. There are three lists of
// pages: for objects below 256 bytes, below 1 KiB, and larger. Blocks are aligned to words. An object is placed into
// the first sufficiently large block of the first page with enough room, and the next search starts with this page.
// Freed blocks merge with adjacent blocks, and empty pages are freed. Objects of a page or more are allocated from the
// page allocator.
#pragma once

#include <array>
#include <vector>

#include "analysis/simulation/slab_heap.hpp"

namespace kmt {

class SlobHeap : public SlabHeap {
 public:
  explicit SlobHeap(const SlabMachine& machine);

  // Allocates an object. `bytes` includes the header that kmalloc writes before its objects. Throws Error if there are
  // more pages than page numbers.
  std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) override;
  void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) override;
  std::uint64_t held_bytes() const override { return held_; }

  // Returns the size of the header before kmalloc objects. It equals their alignment: the larger of
  // ARCH_KMALLOC_MINALIGN and arch_slab_minalign() in Linux 6.1.
  static std::uint64_t header_bytes(const SlabMachine& machine);
  // Returns the bytes that an object takes up in the heap: a multiple of the word size or, for kmalloc, of the
  // alignment. Large objects take up whole pages. The model does not align objects of 2^n bytes to their size.
  static std::uint64_t object_bytes(std::uint64_t requested, bool kmalloc, const SlabMachine& machine);

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::uint64_t kWord = 8;
  struct Block {  // A free block. Members are in words of 8 bytes.
    std::uint16_t begin;
    std::uint16_t size;
  };
  struct Page {
    std::vector<Block> free;  // sorted by address
    std::uint32_t words = 0;  // number of free words
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
    bool listed = false;
  };
  struct List {
    std::uint32_t first = kNone;  // first page; the pages of a list form a ring
  };

  List& list_of(std::uint64_t bytes);
  void link(List& list, std::uint32_t page);
  void unlink(List& list, std::uint32_t page);
  static std::uint32_t take(Page& page, std::uint32_t words);
  static void put(Page& page, std::uint32_t begin, std::uint32_t words);

  std::uint64_t page_bytes_;
  unsigned shift_;  // a place is (page number << shift_) + index of a word in the page
  std::array<List, 3> lists_;
  std::vector<Page> pages_;
  std::vector<std::uint32_t> unused_;
  std::uint64_t held_ = 0;
};

}  // namespace kmt
