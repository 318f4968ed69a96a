// SPDX-License-Identifier: GPL-2.0-or-later
// Tests units, text functions and errors.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace kmt {
namespace {

TEST(Units, ParseSizes) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("512k"), 512u * 1024);
  EXPECT_EQ(parse_size("64M"), 64u << 20);
  EXPECT_EQ(parse_size("64MiB"), 64u << 20);
  EXPECT_EQ(parse_size("1.5G"), 3ull << 29);
  EXPECT_EQ(parse_size("0"), 0u);
  for (const char* wrong : {"", "x", "-1", "1x", "1MB2", "nan", "inf", "1e400", "99999999999T", "M"})
    EXPECT_THROW(parse_size(wrong), Error) << wrong;
}

TEST(Units, ParseTimes) {
  EXPECT_EQ(parse_duration("10"), 10'000'000'000u);
  EXPECT_EQ(parse_duration("1.5s"), 1'500'000'000u);
  EXPECT_EQ(parse_duration("200ms"), 200'000'000u);
  EXPECT_EQ(parse_duration("30us"), 30'000u);
  EXPECT_EQ(parse_duration("7ns"), 7u);
  EXPECT_EQ(parse_duration("5m"), 300'000'000'000u);
  EXPECT_EQ(parse_duration("1h"), 3'600'000'000'000u);
  EXPECT_EQ(parse_duration("1000000h"), 3'600'000'000'000'000'000u);
  for (const char* wrong : {"", "s", "-1s", "1d", "1000001h", "9300000000", "999999999999h"})
    EXPECT_THROW(parse_duration(wrong), Error) << wrong;
}

TEST(Units, FormatBytes) {
  EXPECT_EQ(humane_bytes(0), "0 B");
  EXPECT_EQ(humane_bytes(1023), "1023 B");
  EXPECT_EQ(humane_bytes(1024), "1.0 KiB");
  EXPECT_EQ(humane_bytes(1048575), "1.0 MiB");  // never "1024.0 KiB"
  EXPECT_EQ(humane_bytes(~0ull), "16.0 EiB");
}

TEST(Units, FormatCountsAndTimes) {
  EXPECT_EQ(humane_count(0), "0");
  EXPECT_EQ(humane_count(999), "999");
  EXPECT_EQ(humane_count(1000), "1,000");
  EXPECT_EQ(humane_count(1234567), "1,234,567");
  EXPECT_EQ(humane_duration(999), "999 ns");
  EXPECT_EQ(humane_duration(1500), "1.5 us");
  EXPECT_EQ(humane_duration(1'250'000'000), "1.250 s");
  EXPECT_EQ(humane_duration(725'000'000'000), "12 min 5 s");
}

TEST(Text, PrintableKeepsTextAndEscapesControls) {
  EXPECT_EQ(printable("plain äöü €"), "plain äöü €");
  EXPECT_EQ(printable(std::string_view("\0\x1b[31m\n\t\x7f", 9)), "\\x00\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            // C1 control characters must be replaced too, because terminals obey them.
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
}

TEST(Text, MatchesGlobs) {
  EXPECT_TRUE(glob_match("kworker*", "kworker/0:1"));
  EXPECT_TRUE(glob_match("[ab]?", "bx"));
  EXPECT_FALSE(glob_match("kworker", "kworker/0:1"));
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(split("", ',').size(), 1u);
  EXPECT_EQ(trim(" \t x y \n"), "x y");
  EXPECT_EQ(trim("   "), "");
}

TEST(Error, KeepsTheFirstPositionAndAllContexts) {
  Error error("broken");
  error.at({"inner", 1, {}}).at({"outer", 2, 0x10}).context("reading a").context("reading b").hint("do c");
  EXPECT_EQ(to_string(error.place()), "inner, cpu 1, offset 0x10");
  EXPECT_EQ(error.contexts(), (std::vector<std::string>{"reading a", "reading b"}));
  EXPECT_EQ(error.hint(), "do c");
  EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
  EXPECT_EQ(to_string(Place{}), "");
}

TEST(Error, SystemErrorsDistinguishPermission) {
  errno = EACCES;
  EXPECT_EQ(system_error("Cannot open", "x").exit_code(), ExitCode::unsupported);
  errno = ENOENT;
  const Error missing = system_error("Cannot open", "x");
  EXPECT_EQ(missing.exit_code(), ExitCode::bad_input);
  EXPECT_STREQ(missing.what(), "Cannot open: No such file or directory");
  EXPECT_EQ(missing.place().file, "x");
}

}  // namespace
}  // namespace kmt
