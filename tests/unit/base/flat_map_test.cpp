// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/flat_map.hpp"

#include <random>
#include <unordered_map>

#include <gtest/gtest.h>

namespace kmt {
namespace {

// Keys that differ in few of their low bits collide and form long runs. This is the difficult case for a deletion that
// shifts entries back.
TEST(FlatMap, BehavesLikeAStandardMapUnderChurn) {
  std::mt19937_64 random(42);
  FlatMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t key = i % 3 == 0 ? (random() % 3000) << 52 : 0xffff888000000000 + (random() % 3000) * 64;
    if (random() % 2 == 0) {
      const auto [value, inserted] = map.insert(key);
      EXPECT_EQ(inserted, !expected.contains(key));
      if (inserted) {
        EXPECT_EQ(*value, 0u);
      }
      *value = expected[key] = random();
    } else if (i % 2 == 0) {
      EXPECT_EQ(map.erase(key), expected.erase(key) == 1);
    } else {
      const auto known = expected.find(key);
      EXPECT_EQ(map.take(key), known == expected.end() ? std::nullopt : std::optional(known->second));
      expected.erase(key);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  for (const auto& [key, value] : expected) {
    ASSERT_NE(map.find(key), nullptr);
    EXPECT_EQ(*map.find(key), value);
  }
  std::size_t visited = 0;
  map.for_each([&](std::uint64_t key, std::uint64_t value) {
    EXPECT_EQ(expected.at(key), value);
    ++visited;
  });
  EXPECT_EQ(visited, expected.size());
}

TEST(FlatMap, HoldsTheKeyThatMarksEmptySlots) {
  FlatMap<int> map;
  constexpr auto kKey = ~std::uint64_t{0};
  EXPECT_EQ(map.find(kKey), nullptr);
  EXPECT_TRUE(map.insert(kKey).second);
  *map.find(kKey) = 5;
  EXPECT_FALSE(map.insert(kKey).second);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(*map.find(kKey), 5);
  EXPECT_TRUE(map.erase(kKey));
  EXPECT_FALSE(map.erase(kKey));
  EXPECT_EQ(map.size(), 0u);
}

TEST(FlatMap, FindsNothingInAnEmptyMap) {
  FlatMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_FALSE(map.erase(0));
}

}  // namespace
}  // namespace kmt
