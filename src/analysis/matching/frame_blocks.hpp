// SPDX-License-Identifier: GPL-2.0-or-later
// Stores ranges of page frames that do not overlap. A range is a `Block`, whose member `count` is the number of frames.
// part_of(block, offset, count) returns a part of a block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/flat_map.hpp"
#include "base/frame_set.hpp"

namespace kmt {

template <typename Block>
class FrameBlocks {
 public:
  // Adds a block. Its frames must not be in another block.
  void insert(std::uint64_t first, const Block& block) {
    *blocks_.insert(first).first = block;
    starts_.insert(first);
  }

  // Removes the frames from all blocks. Calls taken(part) for each block that loses frames.
  template <typename Visit>
  void take(std::uint64_t first, std::uint64_t count, Visit&& taken) {
    // Most frees free exactly what an allocation returned.
    if (const Block* const whole = blocks_.find(first); whole != nullptr && whole->count == count) {
      const Block block = *whole;
      starts_.erase(first);
      blocks_.erase(first);
      taken(block);
      return;
    }
    const std::uint64_t end = first + count;
    // Start with the highest frame: if the last block that starts before `end` does not overlap the range, no block
    // does.
    for (auto start = starts_.floor(end - 1); start; start = starts_.floor(end - 1)) {
      const Block block = *blocks_.find(*start);
      const std::uint64_t block_end = *start + block.count;
      if (block_end <= first) return;
      starts_.erase(*start);
      blocks_.erase(*start);
      if (*start < first) insert(*start, part_of(block, 0, first - *start));
      if (block_end > end) insert(end, part_of(block, end - *start, block_end - end));
      const std::uint64_t from = std::max(first, *start);
      taken(part_of(block, from - *start, std::min(end, block_end) - from));
      if (*start <= first) return;
    }
  }

  // True if one of the blocks contains this frame.
  bool contains(std::uint64_t frame) const {
    const auto start = starts_.floor(frame);
    return start && frame - *start < blocks_.find(*start)->count;
  }

  std::size_t size() const { return blocks_.size(); }

  // Visits the blocks in no particular order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    blocks_.for_each(visit);
  }

 private:
  FrameSet starts_;
  FlatMap<Block> blocks_;  // key: first frame of the block
};

}  // namespace kmt
