// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps track of live page frames and their allocations. A free releases exactly the frames in the free event: an
// allocation may be freed in parts or with a different order (free_pages_exact, split_page; seen on Linux 7.2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/flat_map.hpp"
#include "base/frame_set.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Maximum order in events. Larger orders are invalid: the kernel's MAX_PAGE_ORDER is 10 by default and at most 17.
constexpr unsigned kMostPageOrder = 20;

// Consecutive live frames of one allocation. Other frames of the allocation may have been freed.
struct LiveFrames {
  std::uint64_t time_ns = 0;  // time of the allocation
  std::uint64_t count = 0;
  std::uint32_t origin = 0;           // a number that the caller assigns to the allocation
  std::uint32_t pages_per_frame = 1;  // 2^order if events contain only the first struct page, otherwise 1
  std::uint16_t cpu = 0;              // CPU of the allocation
  std::uint8_t order = 0;             // order of the allocation
  bool head = true;                   // includes the first frame; an allocation ends when its first frame is freed
};

class PageMatcher {
 public:
  explicit PageMatcher(PageIdentity identity) : identity_(identity) {}

  // Ends allocations whose frames are still live. Calls `closed` for each of them, with the arguments of `released` in
  // release().
  template <typename Visit>
  void allocate(const Event& event, std::uint32_t origin, Visit&& closed) {
    release(event.address, event.order, closed);
    LiveFrames frames = extent_of(event.order);
    frames.time_ns = event.time_ns;
    frames.cpu = event.cpu;
    frames.origin = origin;
    insert(event.address, frames);
  }

  // Calls released(part, pages) for each live allocation that loses pages. `part.head` is true if these include its
  // first page.
  template <typename Visit>
  void release(std::uint64_t first, unsigned order, Visit&& released) {
    const std::uint64_t end = first + extent_of(order).count;
    // Go from the highest frame down: if the last block that starts before `end` does not overlap, no block does.
    for (auto start = starts_.floor(end - 1); start; start = starts_.floor(end - 1)) {
      const LiveFrames block = *blocks_.find(*start);
      const std::uint64_t block_end = *start + block.count;
      if (block_end <= first) return;
      starts_.erase(*start);
      blocks_.erase(*start);
      if (*start < first) insert(*start, part_of(block, first - *start, block.head));
      if (block_end > end) insert(end, part_of(block, block_end - end, false));
      const std::uint64_t overlap = std::min(end, block_end) - std::max(first, *start);
      const LiveFrames part = part_of(block, overlap, block.head && *start >= first);
      released(part, pages_of(part));
      if (*start <= first) return;
    }
  }

  std::uint64_t pages_of(const LiveFrames& frames) const {
    // If events contain only the first struct page, it represents all pages of the allocation.
    return identity_ == PageIdentity::frame ? frames.count : std::uint64_t{1} << frames.order;
  }

  // Visits the blocks of live frames in no particular order.
  template <typename Visit>
  void for_each_live(Visit&& visit) const {
    blocks_.for_each(visit);
  }

 private:
  LiveFrames extent_of(unsigned order) const {
    LiveFrames frames;
    frames.order = static_cast<std::uint8_t>(order);
    frames.count = identity_ == PageIdentity::frame ? std::uint32_t{1} << order : 1;
    return frames;
  }
  static LiveFrames part_of(LiveFrames block, std::uint64_t count, bool head) {
    block.count = static_cast<std::uint32_t>(count);
    block.head = head;
    return block;
  }
  void insert(std::uint64_t first, const LiveFrames& frames) {
    *blocks_.insert(first).first = frames;
    starts_.insert(first);
  }

  PageIdentity identity_;
  FrameSet starts_;
  FlatMap<LiveFrames> blocks_;  // key: first frame of the block
};

}  // namespace kmt
