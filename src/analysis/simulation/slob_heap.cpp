// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slob_heap.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace kmt {

SlobHeap::SlobHeap(const SlabMachine& machine)
    : page_bytes_(machine.page_bytes), shift_(static_cast<unsigned>(std::bit_width(machine.page_bytes / kWord - 1))) {}

std::uint64_t SlobHeap::object_bytes(std::uint64_t requested, bool kmalloc, const SlabMachine& machine) {
  const std::uint64_t unit = kmalloc ? header_bytes(machine) : kWord;
  const std::uint64_t bytes = requested + (kmalloc ? unit : 0);
  if (bytes >= machine.page_bytes) return kmalloc_bytes(requested, {}, machine);
  return std::max(kWord, (bytes + unit - 1) / unit * unit);
}

std::uint64_t SlobHeap::header_bytes(const SlabMachine& machine) {
  return machine.arch == "aarch64" ? kArm64Alignment : kWord;
}

SlobHeap::List& SlobHeap::list_of(std::uint64_t bytes) { return lists_[bytes < 256 ? 0 : bytes < 1024 ? 1 : 2]; }

// Puts the page at the front of the list.
void SlobHeap::link(List& list, std::uint32_t page) {
  Page& entry = pages_[page];
  entry.listed = true;
  if (list.first == kNone) {
    entry.next = entry.previous = page;
  } else {
    entry.next = list.first;
    entry.previous = pages_[list.first].previous;
    pages_[entry.previous].next = page;
    pages_[list.first].previous = page;
  }
  list.first = page;
}

void SlobHeap::unlink(List& list, std::uint32_t page) {
  Page& entry = pages_[page];
  entry.listed = false;
  pages_[entry.previous].next = entry.next;
  pages_[entry.next].previous = entry.previous;
  if (list.first == page) list.first = entry.next == page ? kNone : entry.next;
}

std::uint32_t SlobHeap::take(Page& page, std::uint32_t words) {
  const auto block = std::ranges::find_if(page.free, [words](const Block& one) { return one.size >= words; });
  if (block == page.free.end()) return kNone;
  const std::uint32_t begin = block->begin;
  block->begin = static_cast<std::uint16_t>(block->begin + words);
  block->size = static_cast<std::uint16_t>(block->size - words);
  if (block->size == 0) page.free.erase(block);
  page.words -= words;
  return begin;
}

void SlobHeap::put(Page& page, std::uint32_t begin, std::uint32_t words) {
  page.words += words;
  auto after = std::ranges::lower_bound(page.free, begin, {}, &Block::begin);
  if (after != page.free.begin() && std::prev(after)->begin + std::prev(after)->size == static_cast<int>(begin)) {
    --after;
    after->size = static_cast<std::uint16_t>(after->size + words);
  } else {
    after = page.free.insert(after, {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(words)});
  }
  const auto next = std::next(after);
  if (next == page.free.end() || after->begin + after->size != next->begin) return;
  after->size = static_cast<std::uint16_t>(after->size + next->size);
  page.free.erase(next);
}

// Implements slob_alloc() and slob_page_alloc().
std::uint32_t SlobHeap::allocate(std::uint64_t bytes, unsigned, int) {
  if (bytes >= page_bytes_) {
    held_ += bytes;
    return kNone;
  }
  const auto words = static_cast<std::uint32_t>(bytes / kWord);
  List& list = list_of(bytes);
  std::uint32_t page = list.first;
  std::uint32_t begin = kNone;
  while (page != kNone) {
    if (pages_[page].words >= words) begin = take(pages_[page], words);
    if (begin != kNone) break;
    page = pages_[page].next == list.first ? kNone : pages_[page].next;
  }
  if (page == kNone) {
    page = static_cast<std::uint32_t>(pages_.size());
    if (!unused_.empty()) {
      page = unused_.back();
      unused_.pop_back();
    } else if (page >> (32 - shift_) != 0) {
      throw Error("The model of SLOB has too many pages for its page numbers").hint("Simulate another allocator");
    } else {
      pages_.emplace_back();
    }
    held_ += page_bytes_;
    pages_[page] = {};
    put(pages_[page], 0, static_cast<std::uint32_t>(page_bytes_ / kWord));
    link(list, page);
    begin = take(pages_[page], words);
  } else {
    list.first = page;  // start the next search for a free block with this page
  }
  if (pages_[page].words == 0) unlink(list, page);
  return page << shift_ | begin;
}

// Implements slob_free(). If the page was full before, the next search for a free block starts with this page.
void SlobHeap::release(std::uint32_t place, std::uint64_t bytes, unsigned) {
  if (bytes >= page_bytes_) {
    held_ -= bytes;
    return;
  }
  const std::uint32_t number = place >> shift_;
  Page& page = pages_[number];
  put(page, place & ((1u << shift_) - 1), static_cast<std::uint32_t>(bytes / kWord));
  List& list = list_of(bytes);
  if (page.words * kWord == page_bytes_) {
    if (page.listed) unlink(list, number);
    unused_.push_back(number);
    held_ -= page_bytes_;
  } else if (!page.listed) {
    link(list, number);
  }
}

}  // namespace kmt
