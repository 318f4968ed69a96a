// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes samples as differences to other samples, and decodes them. The decoded sample must equal the encoded one.
// Damaged deltas must be refused, or their texts must be within the limit.
#include "formats/kmt/sample_delta.hpp"

#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/kmt/sample_series.hpp"

namespace kmt {
namespace {

using namespace kmt_format;

constexpr std::size_t kMostBytes = 1 << 20;

StateSample sample_of(std::string_view text, std::uint64_t ticks = 0) {
  return {ticks, ticks + 1'700'000'000'000'000'000, {{"text", std::string(text)}}};
}

// Returns the size of the delta.
std::size_t check(const StateSample& base, const StateSample& sample) {
  const Payload delta = encode_delta(base, sample);
  const StateSample again = apply_delta(base, delta, kMostBytes);
  EXPECT_EQ(again.ticks, sample.ticks);
  EXPECT_EQ(again.unix_ns, sample.unix_ns);
  EXPECT_EQ(again.texts, sample.texts);
  return delta.size();
}

std::size_t check(std::string_view base, std::string_view text) {
  return check(sample_of(base, 9), sample_of(text, 4));
}

TEST(KmtSampleDelta, NumbersChange) {
  constexpr std::size_t kSmall = 24;  // bytes; the lines below are longer
  const std::string lines(200, 'x');
  EXPECT_LT(check(lines + " 99 kB\n", lines + " 100 kB\n"), kSmall);
  EXPECT_LT(check(lines + ":      99 kB\n", lines + ":     100 kB\n"), kSmall);
  EXPECT_LT(check(lines + ":     100 kB\n", lines + ":      99 kB\n"), kSmall);
  EXPECT_LT(check(lines + " 0099 kB\n", lines + " 0100 kB\n"), kSmall);
  EXPECT_LT(check(lines + "1/2/3\n", lines + "1/4/3\n"), kSmall);
  EXPECT_LT(check(lines + "999999999999999999\n", lines + "0\n"), kSmall + 8);
}

TEST(KmtSampleDelta, FormatsOfNumbersChange) {
  check("a 99\n", "a  99\n");
  check("a 100\n", "a  99\n");
  check("a 099\n", "a 99\n");
  check("a 5\n", "a 05\n");
  check("a 5\n", "a -5\n");
  check("a 12345678901234567890123\n", "a 12345678901234567890124\n");
  check("a 12345678901234567890123 7\n", "a 12345678901234567890123 8\n");
  check("a 1\n", "a 12345678901234567890123\n");
  check("a   \n", "a \n");
  check("a 1", "a 2");
  check("a 1", "a 2\n");
  check("", "\n");
  check("\n\n", "");
  check(std::string_view("\0 1\xff\n", 5), std::string_view("\0 2\xff\n", 5));
}

TEST(KmtSampleDelta, TextsAppearAndVanish) {
  StateSample base = sample_of("a 1\n");
  StateSample more = base;
  more.texts.emplace_back("other", "b 1\n");
  check(base, more);
  check(more, base);
  std::swap(more.texts[0], more.texts[1]);
  check(base, more);
  check(more, more);
  check({}, more);
  check(more, {});
}

TEST(KmtSampleDelta, LinesMove) {
  std::mt19937 random(1);
  std::vector<std::string> lines;
  const auto below = [&random](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  for (unsigned i = 0; i < 60; ++i) lines.push_back("line" + std::to_string(i % 40) + "  " + std::to_string(i));
  std::string before;
  for (unsigned round = 0; round < 400; ++round) {
    for (unsigned i = 0; i < 5; ++i) {
      std::string& line = lines[below(lines.size())];
      line = line.substr(0, line.rfind(' ') + 1) + std::to_string(random() >> below(32));
    }
    if (below(4) == 0) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() - 1)));
    if (below(4) == 0) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())), "new 1");
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    check(before, text);
    before = text;
  }
}

TEST(KmtSampleDelta, DamageIsBounded) {
  const StateSample base = sample_of("a 1\nb 2\nc 3\nd 4\n");
  const Payload delta = encode_delta(base, sample_of("a 5\nb 2\nnew\nd 4\n"));
  std::mt19937 random(1);
  for (unsigned i = 0; i < 20'000; ++i) {
    Payload damaged = delta;
    for (unsigned bytes = 0; bytes < 1 + i % 3; ++bytes)
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    try {
      EXPECT_LE(text_bytes(apply_delta(base, damaged, 40)), 40U);
    } catch (const Error&) {
    }
  }
}

TEST(KmtSampleSeries, AnySampleNeedsFewOthers) {
  for (std::uint16_t number = 1; number < kGroupSamples; ++number) {
    unsigned needed = 0;
    for (std::uint16_t base = number; base != 0; base = base_of(base)) {
      ASSERT_LT(base_of(base), base);
      ++needed;
    }
    EXPECT_LE(needed, 28U);
  }
  EXPECT_EQ(base_of(01234), 01233);
  EXPECT_EQ(base_of(01230), 01220);
  EXPECT_EQ(base_of(01000), 0);
}

TEST(KmtSampleSeries, KeepsTheBasesOfTheNextSample) {
  SeriesBases bases;
  bases.add(std::make_shared<const SeriesMember>());
  for (std::uint16_t number = 1; number < kGroupSamples; ++number) {
    ASSERT_NE(bases.find(base_of(number)), nullptr) << number;
    bases.add(std::make_shared<const SeriesMember>(SeriesMember{number, {}, {}}));
  }
}

}  // namespace
}  // namespace kmt
