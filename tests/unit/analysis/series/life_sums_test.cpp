// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/life_sums.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace kmt {
namespace {

struct Life {
  std::uint32_t group;
  std::uint64_t bytes;
  std::uint64_t began_ns;
  std::uint64_t ended_ns;
};

using Sums = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t>;

// Returns lives that end in order of time. Most of them are short.
std::vector<Life> random_lives(std::size_t count, std::uint32_t groups, std::uint64_t start_ns) {
  std::mt19937_64 random(1);
  std::vector<Life> lives;
  std::uint64_t now = start_ns;
  for (std::size_t i = 0; i < count; ++i) {
    now += random() % 100'000;
    const std::uint64_t longest = i % 4 == 0 ? now - start_ns : std::min<std::uint64_t>(now - start_ns, 2000);
    const auto group = static_cast<std::uint32_t>(random() % groups);
    lives.push_back({group, random() % 1000 + 1, now - random() % (longest + 1), now});
  }
  return lives;
}

Sums taken(LifeSums& sums, std::uint32_t shift) {
  Sums found;
  std::uint32_t last = 0;
  for (const auto& [group, life] : sums.take(shift)) {
    EXPECT_TRUE(found.emplace(std::tuple(group, life.began, life.ended), life.bytes).second) << "one entry for each";
    EXPECT_GE(group, last);
    last = group;
  }
  return found;
}

Sums expected(const std::vector<Life>& lives, std::uint64_t start_ns, std::uint32_t shift) {
  Sums sums;
  for (const Life& life : lives) {
    const auto began = static_cast<std::uint32_t>((life.began_ns - start_ns) >> shift);
    const auto ended = static_cast<std::uint32_t>((life.ended_ns - start_ns) >> shift);
    if (began != ended) sums[{life.group, began, ended}] += life.bytes;
  }
  return sums;
}

TEST(LifeSums, EqualTheSumsOfAllLives) {
  constexpr std::uint64_t kStart = 5'000'000'000;
  constexpr std::uint32_t kGroups = 50;
  const std::vector<Life> lives = random_lives(20'000, kGroups, kStart);
  for (const std::size_t most : {std::size_t{1'000'000}, std::size_t{2000}, std::size_t{60}, std::size_t{0}}) {
    LifeSums sums(kStart, most);
    for (const Life& life : lives) sums.add(life.group, life.bytes, life.began_ns, life.ended_ns);
    sums.end(lives.back().ended_ns + 1000);
    const std::uint32_t shift = sums.shift();
    const Sums found = taken(sums, shift);
    EXPECT_LE(found.size(), most);
    EXPECT_EQ(found, expected(lives, kStart, shift)) << most;
    EXPECT_EQ(most > 0, !found.empty());
  }
}

TEST(LifeSums, CanBecomeCoarserAtTheEnd) {
  const std::vector<Life> lives = random_lives(1000, 3, 0);
  LifeSums sums(0, 1'000'000);
  for (const Life& life : lives) sums.add(life.group, life.bytes, life.began_ns, life.ended_ns);
  sums.end(lives.back().ended_ns);
  const std::uint32_t shift = sums.shift() + 2;
  EXPECT_EQ(taken(sums, shift), expected(lives, 0, shift));
}

}  // namespace
}  // namespace kmt
