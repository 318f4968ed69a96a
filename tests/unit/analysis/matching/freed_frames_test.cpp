// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/freed_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace kmt {
namespace {

Event pages(std::uint64_t first, unsigned order, std::uint64_t time_ns) {
  Event event{};
  event.address = first;
  event.order = static_cast<std::uint8_t>(order);
  event.time_ns = time_ns;
  return event;
}

TEST(FreedFrames, AgreesWithAMapOfFrames) {
  std::mt19937_64 random(7);
  FreedFrames freed(PageIdentity::frame);
  std::map<std::uint64_t, std::uint64_t> time_of;  // key: freed frame; value: time of its last free
  for (std::uint64_t time = 1; time < 40'000; ++time) {
    const unsigned order = static_cast<unsigned>(random() % 5);
    const Event event = pages(random() % 3000, order, time);
    const bool allocates = random() % 2 == 0;
    std::uint64_t latest = 0;
    for (std::uint64_t frame = event.address; frame < event.address + (std::uint64_t{1} << order); ++frame) {
      if (const auto found = time_of.find(frame); found != time_of.end()) latest = std::max(latest, found->second);
      if (allocates)
        time_of.erase(frame);
      else
        time_of[frame] = time;
    }
    if (allocates) {
      freed.allocate(event);
      continue;
    }
    const auto before = freed.free(event);
    ASSERT_EQ(before ? before->time_ns : 0, latest) << time;
  }
}

TEST(FreedFrames, ForgetsTheOldestFrees) {
  FreedFrames freed(PageIdentity::frame);
  freed.free(pages(0, 0, 1));
  for (std::uint64_t i = 1; i < FreedFrames::kRemembered; ++i) freed.free(pages(2 * i, 0, i));
  EXPECT_TRUE(freed.free(pages(0, 0, 9)));
  for (std::uint64_t i = 1; i < 3 * FreedFrames::kRemembered; ++i) freed.free(pages(2 * i, 0, i));
  EXPECT_FALSE(freed.free(pages(0, 0, 10)));
}

}  // namespace
}  // namespace kmt
