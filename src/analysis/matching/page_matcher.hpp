// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps track of live page frames and their allocations. A free releases exactly the frames in the free event: an
// allocation may be freed in parts or with a different order (with free_pages_exact or split_page; seen on Linux 7.2).
#pragma once

#include <cstdint>

#include "analysis/matching/frame_blocks.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Maximum order (2^order pages) in events. Larger orders are invalid: the kernel's MAX_PAGE_ORDER is at most 17, and
// the blocks of a range that alloc_contig_range() takes have at most order 18.
constexpr unsigned kMostPageOrder = 20;

// Consecutive live frames of one allocation. Other frames of the allocation may have been freed.
struct LiveFrames {
  std::uint64_t time_ns = 0;  // time of the allocation
  std::uint64_t count = 0;
  std::uint32_t origin = 0;           // a number that the caller assigns to the allocation
  std::uint32_t pages_per_frame = 1;  // 2^order if events contain only the first struct page, otherwise 1
  std::uint16_t cpu = 0;              // CPU of the allocation
  std::uint8_t order = 0;             // order of the allocation
  bool head = true;                   // true: includes the allocation's first frame, whose free ends the allocation
};

inline LiveFrames part_of(LiveFrames block, std::uint64_t offset, std::uint64_t count) {
  block.count = count;
  block.head = block.head && offset == 0;
  return block;
}

// Returns the number of frames that a block has in events. If events contain only the first struct page of a block, the
// number is 1, because this page represents all pages.
constexpr std::uint64_t frames_of(PageIdentity identity, unsigned order) {
  return identity == PageIdentity::frame ? std::uint64_t{1} << order : 1;
}

class PageMatcher {
 public:
  explicit PageMatcher(PageIdentity identity) : identity_(identity) {}

  // True if the event allocates nothing: its record lists all pages of an array, and this page was already live.
  bool is_listed_again(const Event& event) const {
    return event.kind == EventKind::page_alloc && (event.page_flags & BulkFlags::kMayBeLive) != 0 &&
           blocks_.contains(event.address);
  }

  // Adds an allocation. First ends all allocations that still look live in its frames: calls `closed` for each of them,
  // with the arguments of `released` in release().
  template <typename Visit>
  void allocate(const Event& event, std::uint32_t origin, Visit&& closed) {
    release(event.address, event.order, closed);
    LiveFrames frames;
    frames.order = event.order;
    frames.count = frames_of(identity_, event.order);
    frames.time_ns = event.time_ns;
    frames.cpu = event.cpu;
    frames.origin = origin;
    blocks_.insert(event.address, frames);
  }

  // Calls released(part, pages) for each live allocation that loses pages. `part.head` is true if these include its
  // first page.
  template <typename Visit>
  void release(std::uint64_t first, unsigned order, Visit&& released) {
    blocks_.take(first, frames_of(identity_, order), [&](const LiveFrames& part) { released(part, pages_of(part)); });
  }

  std::uint64_t pages_of(const LiveFrames& frames) const {
    return identity_ == PageIdentity::frame ? frames.count : std::uint64_t{1} << frames.order;
  }

  // Visits the blocks of live frames in no particular order.
  template <typename Visit>
  void for_each_live(Visit&& visit) const {
    blocks_.for_each(visit);
  }

 private:
  PageIdentity identity_;
  FrameBlocks<LiveFrames> blocks_;
};

}  // namespace kmt
