// SPDX-License-Identifier: GPL-2.0-or-later
// Tests what only 32-bit machines use, on any machine.
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/arithmetic/size.hpp"
#include "base/arithmetic/wide.hpp"
#include "base/error.hpp"

namespace kmt {
namespace {

TEST(Size, NumbersThatDoNotFitAreAnError) {
  EXPECT_EQ(to_size(UINT64_C(1) << 40), UINT64_C(1) << 40);
  EXPECT_EQ(to_size<std::uint32_t>(0xffff'ffff), 0xffff'ffffu);
  try {
    to_size<std::uint32_t>(UINT64_C(1) << 32);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4294967296"), std::string::npos) << error.what();
    EXPECT_EQ(error.exit_code(), ExitCode::unsupported);
  }
}

#if defined(__SIZEOF_INT128__)
__extension__ using Wanted = unsigned __int128;

void expect_equal(TwoWords value, Wanted wanted) {
  EXPECT_EQ(static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(wanted));
  EXPECT_EQ(static_cast<std::uint64_t>(value >> 64), static_cast<std::uint64_t>(wanted >> 64));
}

TEST(TwoWords, EqualTheCompilersOwnType) {
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    // Numbers of all magnitudes, and numbers whose sum or product carries from one word to the next.
    const std::uint64_t a = i % 7 == 0 ? UINT64_MAX : random() >> (random() % 64);
    const std::uint64_t b = i % 5 == 0 ? UINT64_MAX : random() >> (random() % 64);
    const std::uint64_t divisor = b | 1;
    const auto bits = static_cast<unsigned>(random() % 128);
    TwoWords value = TwoWords{a} * b;
    Wanted wanted = Wanted{a} * b;
    expect_equal(value, wanted);
    expect_equal(value * 3, wanted * 3);
    expect_equal(value << bits, wanted << bits);
    expect_equal(value >> bits, wanted >> bits);
    expect_equal(value / divisor, wanted / divisor);
    value += a;
    wanted += a;
    value += value;
    wanted += wanted;
    expect_equal(value, wanted);
  }
}
#endif

}  // namespace
}  // namespace kmt
