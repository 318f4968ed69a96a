// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/frame_set.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace kmt {
namespace {

std::optional<std::uint64_t> floor_of(const std::set<std::uint64_t>& frames, std::uint64_t frame) {
  auto above = frames.upper_bound(frame);
  if (above == frames.begin()) return std::nullopt;
  return *std::prev(above);
}

// Uses dense, sparse and very large frame numbers, so that searches end in every level of the set.
TEST(FrameSet, FloorEqualsThatOfAnOrderedSet) {
  std::mt19937_64 random(7);
  const std::uint64_t widths[] = {200, 1 << 14, 1ull << 24, 1ull << 40, 0};
  for (const std::uint64_t width : widths) {
    FrameSet frames;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 60'000; ++i) {
      const std::uint64_t frame = width == 0 ? random() : random() % width;
      if (random() % 3 != 0) {
        frames.insert(frame);
        expected.insert(frame);
      } else if (!expected.empty()) {
        const std::uint64_t gone = *expected.lower_bound(frame == 0 ? 0 : *floor_of(expected, *expected.rbegin()));
        const std::uint64_t victim = random() % 2 == 0 ? gone : frame;
        frames.erase(victim);
        expected.erase(victim);
      }
      const std::uint64_t asked = width == 0 ? random() : random() % (width + width / 2 + 1);
      ASSERT_EQ(frames.floor(asked), floor_of(expected, asked)) << "frame " << asked << " of " << width;
    }
  }
}

TEST(FrameSet, CrossesEveryLevelDownwards) {
  FrameSet frames;
  frames.insert(0);
  for (const unsigned bits : {6u, 12u, 18u, 24u, 50u}) EXPECT_EQ(frames.floor(std::uint64_t{1} << bits), 0u);
  frames.erase(0);
  EXPECT_EQ(frames.floor(~std::uint64_t{0}), std::nullopt);
}

}  // namespace
}  // namespace kmt
