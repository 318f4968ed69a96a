// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

namespace {

std::vector<std::uint8_t> joined(const std::vector<std::uint8_t>& head, const std::vector<std::uint8_t>& text) {
  std::vector<std::uint8_t> whole = head;
  whole.insert(whole.end(), text.begin(), text.end());
  return whole;
}

void expect_same(const std::vector<std::uint8_t>& head, const std::vector<std::uint8_t>& text) {
  const std::vector<std::uint8_t> bytes = make_text_chunk(kFacts, 0, head, text);
  const auto chunk = chunk_at(bytes, 0);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->end(), bytes.size());
  EXPECT_EQ(unpack(*chunk), joined(head, text));
}

}  // namespace

TEST(KmtTextChunk, EqualsAChunkOfBothParts) {
  const std::vector<std::uint8_t> head = {8, 'k', 'a', 'l', 'l'};
  expect_same(head, {});
  expect_same({}, {});
  expect_same(head, {'x'});
  std::mt19937 random(1);
  std::string lines;
  for (unsigned i = 0; i < 100'000; ++i)
    lines += fmt::format("{:016x} t function_{}\n", 0xffffffff81000000 + i * 64, random() % 1000);
  const std::vector<std::uint8_t> text(lines.begin(), lines.end());
  expect_same(head, text);
  EXPECT_LT(make_text_chunk(kFacts, 0, head, text).size(), text.size() / 3);
}

TEST(KmtTextChunk, KeepsIncompressibleText) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> noise(1 << 20);
  for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
  expect_same({1, 2, 3}, noise);
}

// Noise of four different bytes needs codes of 2 bits, and noise of 16 different bytes needs codes of 4 bits. Codes for
// both together need more.
TEST(KmtChunk, PartsHaveCodesOfTheirOwn) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> plain(60'000);
  for (std::size_t i = 0; i < plain.size(); ++i)
    plain[i] = static_cast<std::uint8_t>(i < plain.size() / 2 ? random() % 4 : 16 + random() % 16);
  const std::vector<std::size_t> ends = {plain.size() / 2, plain.size()};
  const std::vector<std::uint8_t> together = make_events_chunk(0, plain, {}, 1);
  const std::vector<std::uint8_t> apart = make_events_chunk(0, plain, ends, 1);
  EXPECT_LT(apart.size(), together.size());
  const auto chunk = chunk_at(apart, 0);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(unpack(*chunk), plain);
}

TEST(KmtChunk, PartsMayBeEmpty) {
  const std::vector<std::size_t> ends = {0, 0, 5, 5};
  const std::vector<std::uint8_t> plain(5, 'x');
  const std::vector<std::uint8_t> bytes = make_events_chunk(0, plain, ends, 1);
  const auto chunk = chunk_at(bytes, 0);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(unpack(*chunk), plain);
}

}  // namespace kmt::kmt_format
