// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how the lines of text traces are parsed.
#include <gtest/gtest.h>

#include "formats/text/lines.hpp"
#include "trace/event.hpp"

namespace kmt::text {
namespace {

TEST(TextLine, TaskNamesMayContainAnyCharacters) {
  const auto line = parse_line("my [0] 1.5: a-b-812   [003] d.H3.  5.000000123: kfree: call_site=f+0x1 ptr=0x10");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->comm, "my [0] 1.5: a-b");
  EXPECT_EQ(line->tid, 812);
  EXPECT_EQ(line->cpu, 3u);
  EXPECT_EQ(line->context, Context::kHardIrq | Context::kSoftIrq);
  EXPECT_EQ(line->time, 5'000'000'123u);
  EXPECT_EQ(line->event, "kfree");
  EXPECT_EQ(line->fields, "call_site=f+0x1 ptr=0x10");
}

// A task name has at most 15 characters, so only the first few brackets of a line may be followed by a CPU. The parser
// must not try all brackets of a long line.
TEST(TextLine, FewPositionsCanBeTheCpu) {
  const std::string rest = "sh-1 [000] 1.5: e: x";
  EXPECT_TRUE(parse_line(std::string(15, '[') + rest));
  EXPECT_FALSE(parse_line(std::string(16, '[') + rest));
  EXPECT_FALSE(parse_line("sh-1 [000]1.5: e: x"));
}

TEST(TextLine, FormsOfThePrefix) {
  struct Case {
    const char* text;
    const char* comm;
    std::int32_t tid;
    std::uint64_t time;
  };
  for (const Case& one : {Case{"  sh-1 [000] 1.5: e: x", "sh", 1, 1'500'000'000},
                          Case{"sh-1 (   2) [000] .... 1.000001: e: x", "sh", 1, 1'000'001'000},
                          Case{"sh-1 (-----) [000] ...1. 1.000001: e: x", "sh", 1, 1'000'001'000},
                          Case{"sh  1 [000] 1.000001: kmem:e: x", "sh", 1, 1'000'001'000},
                          Case{"a b  1/2 [000] 1.000001: kmem:e: x", "a b", 2, 1'000'001'000},
                          Case{"<...>--1 [000] 1.000001: e: x", "<...>", -1, 1'000'001'000},
                          Case{"sh-1 [000] .... 123456: e: x", "sh", 1, 123456}}) {
    const auto line = parse_line(one.text);
    ASSERT_TRUE(line) << one.text;
    EXPECT_EQ(line->comm, one.comm) << one.text;
    EXPECT_EQ(line->tid, one.tid) << one.text;
    EXPECT_EQ(line->time, one.time) << one.text;
    EXPECT_EQ(line->time_in_ns, one.time != 123456);
    EXPECT_EQ(line->event, "e");
  }
}

TEST(TextLine, OtherLinesAreNoEvents) {
  for (const char* const text :
       {"", "#  TASK-PID  CPU#", " => do_syscall_64", "sh-1 [000]", "sh-1 [000] 1.5",
        "sh-1 [000] 1.5: ", "sh-1 [x] 1.5: e: x", "sh-1 [000] 1.5x: e: x", "sh [000] 1.5: e: x",
        "sh-1 [99999] 1.5: e: x", "sh-1 [000] 1.5: not a name: x", "sh-1 [000] 1.1234567891: e: x",
        "sh-1 [000] 99999999999999999999.5: e: x", "sh-1 [000] 18446744074.5: e: x"})
    EXPECT_FALSE(parse_line(text)) << text;
}

TEST(TextLine, Losses) {
  const auto lost = parse_lost("CPU:3 [LOST 12 EVENTS]");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cpu, 3u);
  EXPECT_EQ(lost->count, 12u);
  EXPECT_EQ(parse_lost("CPU:1 [34 EVENTS DROPPED]")->count, 34u);
  EXPECT_FALSE(parse_lost("CPU:1 [EVENTS DROPPED]")->count);
  EXPECT_FALSE(parse_lost("CPU 1 is empty"));
  EXPECT_FALSE(parse_lost("CPU:999999 [LOST 12 EVENTS]"));
}

TEST(TextLine, Values) {
  const std::string_view fields = "call_site=f+0x1 ptr=0x10 xptr=1 va_start: 7 name=";
  EXPECT_EQ(value_of(fields, "ptr"), "0x10");
  EXPECT_EQ(value_of(fields, "xptr"), "1");
  EXPECT_EQ(value_of(fields, "va_start"), "7");
  EXPECT_EQ(value_of(fields, "name"), "");
  EXPECT_EQ(value_of(fields, "site"), "");
  EXPECT_EQ(parse_value("0x1F"), 31u);
  EXPECT_EQ(parse_value("-1"), ~std::uint64_t{0});
  EXPECT_FALSE(parse_value("12a"));
  EXPECT_FALSE(parse_value(""));
}

}  // namespace
}  // namespace kmt::text
