// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/print_format.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(ConstantValue, FollowsTheRulesOfC) {
  EXPECT_EQ(constant_value("21 - 12"), 9);
  EXPECT_EQ(constant_value("2 + 3 * 4 - 5"), 9);
  EXPECT_EQ(constant_value("20 - 5 - 4"), 11);
  EXPECT_EQ(constant_value("1 << 2 + 1"), 8);
  EXPECT_EQ(constant_value("0x400u|0x800u"), 0xC00);
  EXPECT_EQ(constant_value("6 & 3 | 8"), 10);
  EXPECT_EQ(constant_value("~0UL & 0xF"), 15);
  EXPECT_EQ(constant_value("-1 < 1"), 1);
  EXPECT_EQ(constant_value("1 == 2 ? 5 : 3 >= 3 ? 6 : 7"), 6);
  EXPECT_EQ(constant_value("( gfp_t)(((((1UL))) << (10)))"), 1024);
  EXPECT_EQ(constant_value("(((unsigned int)((((12 - 3) * (4 - (2)) + 3) - 12))) < ((unsigned int)(11 - 1)) ? "
                           "((unsigned int)((((12 - 3) * (4 - (2)) + 3) - 12))) : ((unsigned int)(11 - 1)))"),
            9);
}

TEST(ConstantValue, IsEmptyForEverythingElse) {
  for (const char* const text :
       {"", " ", "pageblock_order", "REC->order < 9", "1 +", "(1", "1)", "1 2", "1 ? 2", "1 ? 2 :", "0x", "12ab",
        "1 << 64", "1 && 2", "sizeof(int)", "99999999999999999999999", "()", "(int)", "f(1)"})
    EXPECT_EQ(constant_value(text), std::nullopt) << text;
}

TEST(ConstantValue, LimitsTheDepth) {
  EXPECT_EQ(constant_value(std::string(20, '(') + "7" + std::string(20, ')')), 7);
  for (const char* const piece : {"(", "-", "~", "(int)", "1?", "1?1:", "1+("}) {
    std::string deep;
    for (int i = 0; i < 300'000; ++i) deep += piece;
    EXPECT_EQ(constant_value(deep + "1"), std::nullopt) << piece;
  }
}

TEST(PageblockOrder, IsReadFromThePrintFormat) {
  const std::string format = R"( "page=%p pfn=%lu 100%% alloc_order=%d pageblock_order=%d fragmenting=%d", )";
  EXPECT_EQ(pageblock_order_of(format +
                               "(((struct page *)vmemmap_base) + f(1, 2)), REC->pfn, REC->alloc_order, (21 - 12), 0"),
            9u);
  EXPECT_EQ(pageblock_order_of(format + "a[1, 2], \",\", REC->alloc_order, (20 - 12)"), 8u);
}

TEST(PageblockOrder, IsEmptyIfThePrintFormatLacksIt) {
  for (const char* const text :
       {"", "\"", "\"pageblock_order=%d\"", "\"pageblock_order=%d\", pageblock_order", "\"order=%d\", 9",
        "\"pageblock_order=%d\", 0", "\"pageblock_order=%d\", 21", "\"pageblock_order=%d\", -1",
        "\"a=%d pageblock_order=%d\", 9", "\"pageblock_order=\", 9"})
    EXPECT_EQ(pageblock_order_of(text), std::nullopt) << text;
}

TEST(LacksMemcg, IsReadFromTheArgumentOfAccounted) {
  const std::string format = R"("node=%d accounted=%s", REC->node, )";
  EXPECT_TRUE(lacks_memcg(format + "(0 && (REC->gfp_flags & 4)) ? \"true\" : \"false\""));
  EXPECT_FALSE(lacks_memcg(format + "(1 && (REC->gfp_flags & 4)) ? \"true\" : \"false\""));
  for (const char* const text : {"", "0", "\"accounted=%s\"", "\"accounted=%s\", REC->accounted ? \"true\" : \"false\"",
                                 "\"node=%d\", (0 && 1)"})
    EXPECT_FALSE(lacks_memcg(text)) << text;
}

TEST(FlagNames, AreReadFromTheField) {
  const auto names = flag_names_of(
      R"("%s", (REC->f) ? __print_flags(REC->gfp_flags, "|", {( unsigned long)((1 << 2)|1), "A"}, {8, "B,}"} ) : "none")",
      "gfp_flags");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].bits, 5u);
  EXPECT_EQ(names[0].name, "A");
  EXPECT_EQ(names[1].bits, 8u);
  EXPECT_EQ(names[1].name, "B,}");
}

TEST(FlagNames, StopAtTheEndOfTheTable) {
  const auto names = flag_names_of(
      R"(__print_flags(REC->gfp_flags, "|", {( unsigned long)(( gfp_t)((((1UL))) << (24))), "__GFP_NO_OBJ_EXT"}, )"
      R"({ 0, ((void *)0) } ) : "none", REC->node ? "true" : "false"{1, "none"})",
      "gfp_flags");
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].bits, 1u << 24);
}

TEST(FlagNames, AreNotGuessed) {
  const std::string start = "__print_flags(REC->gfp_flags, \"|\", ";
  for (const char* const text : {"", "{", "{1", "{1, \"", "{1, \"A", "{1, \"A\"", "{x, \"A\"}", "{\"A\"}", "1, \"A\"}"})
    EXPECT_TRUE(flag_names_of(start + text, "gfp_flags").empty()) << text;
  EXPECT_TRUE(flag_names_of(start + "{1, \"A\"}", "flags").empty());
}

}  // namespace
}  // namespace kmt
