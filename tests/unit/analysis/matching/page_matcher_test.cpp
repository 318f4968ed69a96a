// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/page_matcher.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace kmt {
namespace {

Event pages(std::uint64_t first, unsigned order) {
  Event made{};
  made.kind = EventKind::page_alloc;
  made.address = first;
  made.order = static_cast<std::uint8_t>(order);
  return made;
}

// A reference implementation with one map entry per page frame: slow, but obviously correct.
struct FrameByFrame {
  std::map<std::uint64_t, unsigned> order_of;

  std::map<unsigned, std::uint64_t> release(std::uint64_t first, unsigned order) {
    std::map<unsigned, std::uint64_t> pages_by_order;
    for (std::uint64_t frame = first; frame < first + (std::uint64_t{1} << order); ++frame) {
      const auto found = order_of.find(frame);
      if (found == order_of.end()) continue;
      ++pages_by_order[found->second];
      order_of.erase(found);
    }
    return pages_by_order;
  }
  std::map<unsigned, std::uint64_t> allocate(std::uint64_t first, unsigned order) {
    const auto closed = release(first, order);
    for (std::uint64_t frame = first; frame < first + (std::uint64_t{1} << order); ++frame) order_of[frame] = order;
    return closed;
  }
};

TEST(PageMatcher, AgreesWithAMapOfFrames) {
  std::mt19937_64 random(11);
  PageMatcher matcher(PageIdentity::frame);
  FrameByFrame expected;
  for (int i = 0; i < 60'000; ++i) {
    const unsigned order = static_cast<unsigned>(random() % 3 == 0 ? random() % 9 : random() % 2);
    // Some blocks are not aligned, because a damaged trace may contain any frame number.
    const std::uint64_t first = random() % 4 == 0 ? random() % 5000 : (random() % 5000) >> order << order;
    std::map<unsigned, std::uint64_t> got;
    Event listed = pages(first, 0);
    listed.page_flags = BulkFlags::kMayBeLive;
    ASSERT_EQ(matcher.is_listed_again(listed), expected.order_of.contains(first)) << i;
    ASSERT_FALSE(matcher.is_listed_again(pages(first, 0)));
    const auto collect = [&got](const LiveFrames& block, std::uint64_t pages) { got[block.order] += pages; };
    if (random() % 2 == 0) {
      matcher.allocate(pages(first, order), 1, collect);
      ASSERT_EQ(got, expected.allocate(first, order)) << i;
    } else {
      matcher.release(first, order, collect);
      ASSERT_EQ(got, expected.release(first, order)) << i;
    }
  }
}

TEST(PageMatcher, AFreeReleasesExactlyItsFrames) {
  PageMatcher matcher(PageIdentity::frame);
  const auto ignore = [](const LiveFrames&, std::uint64_t) {};
  matcher.allocate(pages(64, 3), 1, ignore);
  std::uint64_t released = 0;
  const auto add = [&released](const LiveFrames&, std::uint64_t pages) { released += pages; };
  matcher.release(66, 1, add);
  EXPECT_EQ(released, 2u);
  matcher.release(66, 0, add);
  EXPECT_EQ(released, 2u);
  matcher.release(64, 3, add);
  EXPECT_EQ(released, 8u);
}

TEST(PageMatcher, AnAllocationEndsWithItsFirstFrame) {
  PageMatcher matcher(PageIdentity::frame);
  const auto ignore = [](const LiveFrames&, std::uint64_t) {};
  matcher.allocate(pages(64, 2), 1, ignore);
  std::vector<bool> heads;
  const auto note = [&heads](const LiveFrames& block, std::uint64_t) { heads.push_back(block.head); };
  matcher.release(66, 0, note);
  matcher.release(64, 0, note);
  matcher.release(64, 2, note);
  EXPECT_EQ(heads, (std::vector<bool>{false, true, false, false}));
}

// Before Linux 4.1, events contain a struct page pointer instead of a page frame number. Then it is unknown which
// frames are adjacent, so an allocation can only be freed as a whole.
TEST(PageMatcher, StructPagesAreWholeAllocations) {
  PageMatcher matcher(PageIdentity::struct_page);
  const auto ignore = [](const LiveFrames&, std::uint64_t) {};
  matcher.allocate(pages(0xffffea0000000040, 2), 1, ignore);
  matcher.allocate(pages(0xffffea0000000041, 0), 1, [](const LiveFrames&, std::uint64_t) { FAIL() << "a neighbour"; });
  std::uint64_t released = 0;
  matcher.release(0xffffea0000000040, 2, [&released](const LiveFrames&, std::uint64_t pages) { released += pages; });
  EXPECT_EQ(released, 4u);
}

TEST(PageMatcher, AcceptsTheHighestFrameNumbers) {
  PageMatcher matcher(PageIdentity::frame);
  const auto ignore = [](const LiveFrames&, std::uint64_t) {};
  for (const std::uint64_t first : {~std::uint64_t{0} - 3, std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
    matcher.allocate(pages(first, 4), 1, ignore);
    matcher.release(first, 5, ignore);
  }
}

}  // namespace
}  // namespace kmt
