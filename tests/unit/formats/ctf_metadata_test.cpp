// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/ctf/metadata_checks.hpp"

namespace kmt::ctf {
namespace {

constexpr std::size_t kMost = 2048;

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

bool is_refused(const std::string& text) {
  try {
    check_metadata(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
    return false;
  } catch (const Error&) {
    return true;
  }
}

TEST(CtfMetadata, LimitsTheMembersOfAType) {
  EXPECT_FALSE(is_refused("event { fields := struct { " + repeated("int a;", kMost) + "}; };"));
  EXPECT_TRUE(is_refused("event { fields := struct { " + repeated("int a;", kMost + 1) + "}; };"));
  EXPECT_TRUE(is_refused("struct { " + repeated("integer { size = 8; } := a;", kMost + 1) + "};"));
  EXPECT_TRUE(is_refused("enum : int { " + repeated("a,", kMost + 1) + "};"));
}

TEST(CtfMetadata, MayDeclareAnyNumberOfTypes) { EXPECT_FALSE(is_refused(repeated("event { id = 1; };", 3 * kMost))); }

TEST(CtfMetadata, LimitsAllMembersTogether) {
  const std::string structure = "struct { " + repeated("integer { size = 8; align = 8; } := a;", 1000) + "};";
  EXPECT_FALSE(is_refused(repeated(structure, 32)));
  EXPECT_TRUE(is_refused(repeated(structure, 33)));
}

TEST(CtfMetadata, IgnoresStringsAndComments) {
  const std::string begin = "struct { " + repeated("int a;", kMost);
  for (const char* const nothing :
       {"/* ; } { */", "// } ; {\n", "\"; } {\"", "\"\\\"; } \"", "\"\\\\\"", "/*/ ; */", "'\"'", "'\\''", "/ * /"})
    EXPECT_FALSE(is_refused(begin + nothing + "}")) << nothing;
  for (const char* const before :
       {"/* } */", "// }\n", "\"}\"", "\"\\\"}\"", "\"\\\\\"", "/**/", "/***/", "/*/ \" */", "'\"'", "'\\''", "'\\\\'"})
    EXPECT_TRUE(is_refused(begin + before + "int b; }")) << before;
}

TEST(CtfMetadata, AcceptsUnmatchedClosingBrackets) { EXPECT_FALSE(is_refused("} } ; ,")); }

}  // namespace
}  // namespace kmt::ctf
