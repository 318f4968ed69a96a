// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/number.hpp"

#include <gtest/gtest.h>

namespace kmt {

TEST(NumberTest, RequiresTheWholeText) {
  EXPECT_EQ(parse_number<unsigned>("17"), 17u);
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<unsigned>("ff", 16), 255u);
  for (const char* const text : {"", "-1", "17 ", " 17", "17x", "4294967296"})
    EXPECT_EQ(parse_number<unsigned>(text), std::nullopt) << text;
  EXPECT_EQ(parse_hexadecimal("0xff"), 255u);
  EXPECT_EQ(parse_hexadecimal("ff"), 255u);
  EXPECT_EQ(parse_hexadecimal("0x"), std::nullopt);
}

TEST(NumberTest, ParsesANumberAtTheStart) {
  EXPECT_EQ(parse_leading<int>("12 kB"), 12);
  EXPECT_EQ(parse_leading<int>("kB"), std::nullopt);
  std::string_view text = "12-15";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "-15");
  text = "x";
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, "x");
}

}  // namespace kmt
