// SPDX-License-Identifier: GPL-2.0-or-later
// Finds pages that are freed twice. For this purpose, remembers which page frames were freed and not allocated since.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/matching/frame_blocks.hpp"
#include "analysis/matching/page_matcher.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Consecutive frames that one event freed together.
struct FreedBlock {
  std::uint64_t time_ns = 0;
  std::uint64_t count = 0;
  CallSiteId call_site;
};

inline FreedBlock part_of(FreedBlock block, std::uint64_t, std::uint64_t count) {
  block.count = count;
  return block;
}

class FreedFrames {
 public:
  // Number of blocks that are certainly remembered. If there are more blocks, the oldest ones may be forgotten.
  static constexpr std::size_t kRemembered = std::size_t{1} << 18;

  explicit FreedFrames(PageIdentity identity) : identity_(identity) {}

  void allocate(const Event& event) {
    for (FrameBlocks<FreedBlock>* const blocks : {&newer_, &older_})
      blocks->take(event.address, frames_of(identity_, event.order), [](const FreedBlock&) {});
  }

  // Returns the latest of the earlier frees of these frames. A free does not count if its frame was allocated since
  // then.
  std::optional<FreedBlock> free(const Event& event) {
    const std::uint64_t count = frames_of(identity_, event.order);
    std::optional<FreedBlock> before;
    for (FrameBlocks<FreedBlock>* const blocks : {&newer_, &older_})
      blocks->take(event.address, count, [&before](const FreedBlock& block) {
        if (!before || block.time_ns > before->time_ns) before = block;
      });
    if (newer_.size() >= kRemembered) older_ = std::exchange(newer_, {});
    newer_.insert(event.address, {event.time_ns, count, event.call_site});
    return before;
  }

 private:
  PageIdentity identity_;
  FrameBlocks<FreedBlock> newer_, older_;
};

}  // namespace kmt
