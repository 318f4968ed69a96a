// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace kmt {
namespace {

TextStyle wide(unsigned width) { return {width, false, false}; }

Table sample() {
  return {{{"Name", true, 0}, {"One", false, 1}, {"Two", false, 2}},
          {{{"a_rather_long_function_name_of_forty+0x1f", "1", "22"}, false}, {{"b", "333", "4"}, false}}};
}

TEST(Table, AlignsNamesLeftAndNumbersRight) {
  EXPECT_EQ(to_text(sample(), wide(120)),
            "  Name                                       One  Two\n"
            "  a_rather_long_function_name_of_forty+0x1f    1   22\n"
            "  b                                          333    4\n");
}

TEST(Table, ShortensNamesBeforeItDropsColumns) {
  EXPECT_EQ(to_text(sample(), wide(45)),
            "  Name                               One  Two\n"
            "  a_rather_long_functio…_forty+0x1f    1   22\n"
            "  b                                  333    4\n");
}

// A time must not be shortened in its middle.
TEST(Table, ShortensTheLeastImportantNamesFirst) {
  const Table table{{{"Began", true, 0, true}, {"File", true, 1}, {"Trace", true, 2}},
                    {{{"2026-11-24T10:11:17Z", "a_rather_long_path.kmt", "0123456789abcdef0123456789abcdef"}}}};
  EXPECT_EQ(to_text(table, wide(80)),
            "  Began                 File                    Trace\n"
            "  2026-11-24T10:11:17Z  a_rather_long_path.kmt  0123456789abcdef0123456789abcdef\n");
  EXPECT_EQ(to_text(table, wide(70)),
            "  Began                 File                    Trace\n"
            "  2026-11-24T10:11:17Z  a_rather_long_path.kmt  0123456789abcdef…bcdef\n");
  EXPECT_EQ(to_text(table, wide(54)),
            "  Began                 File            Trace\n"
            "  2026-11-24T10:11:17Z  a_rather_l…kmt  0123456789…def\n");
  EXPECT_EQ(to_text(table, wide(46)),
            "  Began                 File\n"
            "  2026-11-24T10:11:17Z  a_rather_long_path.kmt\n");
}

TEST(Table, DropsTheLeastImportantColumnFirst) {
  const std::string text = to_text(sample(), wide(38));
  EXPECT_NE(text.find("One"), std::string::npos);
  EXPECT_EQ(text.find("Two"), std::string::npos);
  EXPECT_EQ(to_text(sample(), wide(30)).find("One"), std::string::npos);
}

TEST(Table, RawOmitsNothing) {
  EXPECT_NE(to_text(sample(), {30, false, true}).find("a_rather_long_function_name_of_forty+0x1f    1   22"),
            std::string::npos);
}

TEST(Table, CellsMayBeGraphics) {
  const Table table{{{"Name", true, 0}, {"Over time", false, 0}, {"One", false, 0}},
                    {{{"a", "▁▂▃▄▅▆▇█▁▂▃", "1"}, false}, {{"b", "▁█", "22"}, false}}};
  EXPECT_EQ(to_text(table, wide(60)),
            "  Name    Over time  One\n"
            "  a     ▁▂▃▄▅▆▇█▁▂▃    1\n"
            "  b              ▁█   22\n");
}

TEST(Table, UsesColoursOnlyIfAllowed) {
  EXPECT_EQ(to_text(sample(), wide(120)).find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(sample(), {120, true, false}).find("\x1b[1m"), std::string::npos);
}

TEST(Shortened, KeepsStartAndOffset) {
  const std::string name = "tomoyo_realpath_from_path_and_more+0x3b";
  EXPECT_EQ(shortened(name, name.size()), name);
  for (std::size_t width = 12; width < name.size(); ++width) {
    const std::string text = shortened(name, width);
    EXPECT_EQ(text.size(), width + 2) << text;  // the character … has three bytes but one column
    EXPECT_TRUE(text.starts_with("tomo")) << text;
    if (width >= 16) {
      EXPECT_TRUE(text.ends_with("+0x3b")) << text;
    }
  }
  EXPECT_EQ(shortened("abcdef", 2), "ab");
  EXPECT_EQ(shortened("abcdef", 0), "");
}

TEST(CellText, IsReadableOrRaw) {
  EXPECT_EQ(cell_text(Cell{std::uint64_t{1234567}}, Unit::count, false), "1,234,567");
  EXPECT_EQ(cell_text(Cell{std::uint64_t{1234567}}, Unit::count, true), "1234567");
  EXPECT_EQ(cell_text(Cell{std::uint64_t{1536}}, Unit::bytes, false), "1.5 KiB");
  EXPECT_EQ(cell_text(Cell{std::uint64_t{1536}}, Unit::bytes, true), "1536");
  EXPECT_EQ(cell_text(Cell{std::uint64_t{0x10}}, Unit::address, false), "0x10");
  EXPECT_EQ(cell_text(Cell{12.34}, Unit::percent, false), "12.3%");
  EXPECT_EQ(cell_text(Cell{12.34}, Unit::percent, true), "12.340");
  EXPECT_EQ(cell_text(Cell{}, Unit::percent, false), "-");
}

TEST(CellText, EscapesControlCharacters) {
  EXPECT_EQ(cell_text(Cell{std::string_view("a\x1b[2Jb\nc\xc3\xa4")}, Unit::text, false), "a\\x1b[2Jb\\x0ac\\xc3\\xa4");
}

}  // namespace
}  // namespace kmt
