// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(Excerpt, ShowsTheStartOfLongText) {
  EXPECT_EQ(excerpt("a name", 6), "a name");
  EXPECT_EQ(excerpt("a long name", 6), "a long…");
  EXPECT_EQ(excerpt("äöü", 3), "ä…") << "characters stay whole";
  EXPECT_EQ(excerpt("a\x1B[0m"), "a\\x1b[0m");
  EXPECT_EQ(excerpt(std::string(100'000, 'a')).size(), 203u);
  EXPECT_EQ(excerpt("", 0), "");
}

}  // namespace
}  // namespace kmt
