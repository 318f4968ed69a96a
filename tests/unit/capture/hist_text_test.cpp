// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/hist_text.hpp"

#include <gtest/gtest.h>

namespace kmt {

namespace {

// Written by Linux 6.1. The name of a process may contain anything.
constexpr const char* kText = R"(# event histogram
#
# trigger info: hist:keys=call_site,common_pid.execname,bytes_alloc:vals=hitcount,bytes_req,bytes_alloc:sort=hitcount:size=8192 if (ptr != 0) && (!(common_flags & 0x18)) [active]
#

{ call_site: 18446744072559615026, common_pid: sh              [       120], bytes_alloc:        512 } hitcount:          1  bytes_req:        416  bytes_alloc:        512
{ call_site: 18446744072561247614, common_pid: a}, b: [1]      [        17], bytes_alloc:         96 } hitcount:          3  bytes_req:        243  bytes_alloc:        288

Totals:
    Hits: 4
    Entries: 2
    Dropped: 5


# event histogram
#
# trigger info: hist:keys=common_type:vals=hitcount:sort=hitcount:size=128 if (ptr == 0) [active]
#


Totals:
    Hits: 0
    Entries: 0
    Dropped: 0
)";

}  // namespace

TEST(HistText, HasATableForEachTrigger) {
  const std::vector<HistTable> tables = parse_hist(kText);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].filter(), "(ptr != 0) && (!(common_flags & 0x18))");
  EXPECT_EQ(tables[0].dropped, 5u);
  EXPECT_EQ(tables[1].filter(), "(ptr == 0)");
  EXPECT_TRUE(tables[1].entries.empty());
}

TEST(HistText, DistinguishesKeysFromValuesOfTheSameField) {
  const HistEntry entry = parse_hist(kText)[0].entries.at(1);
  EXPECT_EQ(entry.key_number("call_site"), 18446744072561247614u);
  EXPECT_EQ(entry.keys.at("common_pid"), "a}, b: [1]      [        17]");
  EXPECT_EQ(entry.key_number("bytes_alloc"), 96u);
  EXPECT_EQ(entry.number("hitcount"), 3u);
  EXPECT_EQ(entry.number("bytes_req"), 243u);
  EXPECT_EQ(entry.number("bytes_alloc"), 288u);
  EXPECT_EQ(entry.number("absent"), 0u);
}

TEST(HistText, SurvivesDamagedText) {
  EXPECT_TRUE(parse_hist("").empty());
  EXPECT_TRUE(parse_hist("{ call_site: 1 } hitcount: 2\n").empty());
  const std::vector<HistTable> tables =
      parse_hist("# trigger info: hist:\n{ call_site: 1 hitcount: 2\n{ } hitcount:\n");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].filter(), "");
  EXPECT_EQ(tables[0].entries.at(1).number("hitcount"), 0u);
}

}  // namespace kmt
