// SPDX-License-Identifier: GPL-2.0-or-later
// Tests values of options, suggestions for misspelled words, and help texts.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/suggest.hpp"

namespace kmt {
namespace {

TEST(Parse, CpuLists) {
  EXPECT_EQ(parse_cpu_list("0,2-3"), (std::set<unsigned>{0, 2, 3}));
  EXPECT_EQ(parse_cpu_list("7"), (std::set<unsigned>{7}));
  for (const char* wrong : {"", ",", "a", "3-1", "1-", "-1", "1,,2", "0-4294967295", "99999999999"})
    EXPECT_THROW(parse_cpu_list(wrong), Error) << wrong;
}

TEST(Parse, PidLists) {
  EXPECT_EQ(parse_pid_list("1,22"), (std::set<std::int32_t>{1, 22}));
  for (const char* wrong : {"", "-1", "1-2", "x", "4294967296"}) EXPECT_THROW(parse_pid_list(wrong), Error) << wrong;
}

TEST(Parse, TimeWindowsToTheNanosecond) {
  const TimeWindow window = parse_time_window("1234567.123456789,+2.5");
  ASSERT_TRUE(window.from && window.to);
  EXPECT_EQ(window.from->on_clock(5), 1'234'567'123'456'789u);
  EXPECT_EQ(window.to->on_clock(5), 2'500'000'005u);
  EXPECT_EQ(window.to->on_clock(~0ull), ~0ull);
  EXPECT_FALSE(parse_time_window(",3").from);
  EXPECT_FALSE(parse_time_window("3,").to);
  for (const char* wrong :
       {"", "1", "1,2,3", "2,1", "1,1", "a,b", "1.,2", "0.1234567891,2", "-1,2", "99999999999999,", "+2,+1", "1e3,"})
    EXPECT_THROW(parse_time_window(wrong), Error) << wrong;
}

TEST(Suggest, TheNearestName) {
  const std::vector<std::string> names = {"record", "report", "check", "list"};
  EXPECT_EQ(nearest_name("reprot", names), "report");
  EXPECT_EQ(nearest_name("recrod", names), "record");
  EXPECT_EQ(nearest_name("chek", names), "check");
  EXPECT_EQ(nearest_name("rec", names), "record");
  EXPECT_EQ(nearest_name("banana", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(10000, 'r'), names), "");
}

TEST(Help, FitsTheWidthAndHasExamples) {
  Command program{"kmemtrace", "What it is.", "", {}};
  program.commands = {report_command(), check_command()};
  const Command& report = *program.command("report");
  const std::string overview = help_text(program, program, false, 80);
  const std::string brief = help_text(program, report, false, 80);
  const std::string full = help_text(program, report, true, 80);
  for (const std::string& text : {brief, full, overview})
    // The character "…" has three bytes.
    for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 82u) << line;
  EXPECT_NE(brief.find("--sort KEY"), std::string::npos);
  EXPECT_EQ(brief.find("live-bytes"), std::string::npos);
  EXPECT_NE(full.find("live-bytes"), std::string::npos);
  EXPECT_NE(full.find("Exit status"), std::string::npos);
  EXPECT_NE(overview.find("check"), std::string::npos);
}

// The first environment variable that is set and not empty decides, as in setlocale(3).
TEST(Output, GraphicsAreUnicodeIfTheLocaleIsUtf8) {
  const auto unicode = [](const char* all, const char* type, const char* lang) {
    ::setenv("LC_ALL", all, 1);
    ::setenv("LC_CTYPE", type, 1);
    ::setenv("LANG", lang, 1);
    return stdout_style({}).unicode;
  };
  EXPECT_TRUE(unicode("", "", "en_GB.UTF-8"));
  EXPECT_TRUE(unicode("", "C.utf8", "C"));
  EXPECT_TRUE(unicode("de_DE.UTF8@euro", "C", "C"));
  EXPECT_FALSE(unicode("C", "", "en_GB.UTF-8"));
  EXPECT_FALSE(unicode("", "", "de_DE.ISO-8859-1"));
  EXPECT_FALSE(unicode("", "", ""));
  ::setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_TRUE(stdout_style({}).unicode);
  EXPECT_FALSE(stdout_style({.ascii = true}).unicode);
}

}  // namespace
}  // namespace kmt
