// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "base/units.hpp"
#include "views/text/table.hpp"

namespace kmt {
namespace {

constexpr TextStyle kUnicode{60, false, false, true};
constexpr TextStyle kAscii{60, false, false, false};
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(Sparkline, HasALevelForEachEighth) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 8, kUnicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 8, kAscii), " .:-=+*#");
}

TEST(Sparkline, FitsAnyNumberOfCells) {
  const std::vector<double> values = {0, 7, 0, 0, 3, 1, 0, 0};
  EXPECT_EQ(sparkline(values, 4, kUnicode), "█▁▄▁");  // the peak must stay visible
  EXPECT_EQ(sparkline(values, 1, kUnicode), "█");
  EXPECT_EQ(sparkline(values, 0, kUnicode), "");
  EXPECT_EQ(sparkline(std::vector<double>{1, 2}, 6, kAscii), "===###");
  EXPECT_EQ(sparkline({}, 3, kUnicode), "   ");
}

TEST(Sparkline, ScaleStartsAtZero) {
  EXPECT_EQ(sparkline(std::vector<double>{100, 101}, 2, kUnicode), "██");
  EXPECT_EQ(sparkline(std::vector<double>{0, 0}, 2, kUnicode), "▁▁");
  EXPECT_EQ(sparkline(std::vector<double>{-7, 0, 7}, 3, kUnicode), "▁▅█");
  EXPECT_EQ(sparkline(std::vector<double>{-7, -7}, 2, kUnicode), "▁▁");
}

TEST(Sparkline, UnknownIsBlank) {
  EXPECT_EQ(sparkline(std::vector<double>{7, kUnknown, HUGE_VAL, 7}, 4, kUnicode), "█  █");
  EXPECT_EQ(sparkline(std::vector<double>{7, kUnknown, kUnknown, 0}, 2, kUnicode), "█▁");
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(sparkline(std::vector<double>{-most, most}, 2, kUnicode).size(), 6u);
}

PlotFrame frame(std::size_t height) {
  return {height, "0 s", "30.000 s", [](double value) { return humane_bytes(static_cast<std::uint64_t>(value)); }};
}

std::vector<double> ramp(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// There is one dot per value, horizontally and vertically.
TEST(Plot, ASingleSeriesIsAnArea) {
  PlotFrame small = frame(4);
  small.end = "9 s";
  EXPECT_EQ(plot({{"live", ramp(16)}}, small, {16, false, false, true}),
            "  live\n"
            "  15 B ┤      ⣠⣾\n"
            "       │    ⣠⣾⣿⣿\n"
            "       │  ⣠⣾⣿⣿⣿⣿\n"
            "   0 B ┤⣠⣾⣿⣿⣿⣿⣿⣿\n"
            "       └────────\n"
            "        0 s  9 s\n");
  EXPECT_EQ(plot({{"live \x1b[2J bytes", ramp(16)}}, small, {24, false, false, false}),
            "  live \\x1b[2J bytes\n"
            "  15 B +             ###\n"
            "       |        ########\n"
            "       |   #############\n"
            "   0 B +################\n"
            "       +----------------\n"
            "        0 s          9 s\n");
}

TEST(Plot, SmallChangesOfLargeValuesAreVisible) {
  std::vector<double> values = ramp(16);
  for (double& value : values) value += 1000;
  PlotFrame small = frame(2);
  small.from_least = true;
  const std::string text = plot({{"live", values}}, small, {24, false, false, false});
  EXPECT_NE(text.find("1000 B +"), std::string::npos) << text;
  EXPECT_NE(text.find("1015 B +"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0 B"), std::string::npos) << text;
  // If no value is known, the axis must start at 0 B too.
  EXPECT_NE(plot({{"live", {kUnknown}}}, small, {24, false, false, false}).find("0 B"), std::string::npos);
}

TEST(Plot, WithoutColourEachSeriesHasASeparatePlot) {
  EXPECT_EQ(plot({{"one", {1, 1, 0, 0}}, {"two", {kUnknown, 2048}}}, frame(2), {25, false, false, false}),
            "  one\n"
            "  1 B +#########\n"
            "  0 B +##################\n"
            "      +------------------\n"
            "       0 s       30.000 s\n"
            "  two\n"
            "  2.0 KiB +       #######\n"
            "      0 B +       #######\n"
            "          +--------------\n"
            "           0 s   30.000 s\n");
}

TEST(Plot, ColouredLinesShareAPlot) {
  PlotFrame small = frame(2);
  small.begin = small.end = "";
  EXPECT_EQ(plot({{"one", {0}}, {"two", {7, 0}}}, small, {11, true, false, true}),
            "  \x1b[36m■\x1b[0m one\n"
            "  \x1b[33m■\x1b[0m two\n"
            "  7 B ┤\x1b[33m⠉⠉⡇\x1b[0m\n"
            "  0 B ┤\x1b[36m⣀⣀\x1b[33m⣇⣀\x1b[0m\n"
            "      └────\n"
            "           \n");
}

TEST(Plot, SeriesBeyondTheColoursGetSeparatePlots) {
  const std::vector<PlotSeries> many(7, PlotSeries{"same", {1}});
  const std::string text = plot(many, frame(1), {24, true, false, true});
  std::size_t plots = 0;
  for (std::size_t at = 0; (at = text.find("30.000 s", at)) != std::string::npos; ++at) ++plots;
  EXPECT_EQ(plots, 7u);
}

TEST(Plot, NoLineIsWiderThanTheStyleAllows) {
  for (const unsigned width : {60u, 61u, 137u}) {
    const std::string text = plot({{std::string(300, 'n'), ramp(1000)}}, frame(8), {width, false, false, true});
    std::size_t widest = 0;
    for (const std::string_view line : split(text, '\n')) widest = std::max(widest, columns_of(line));
    EXPECT_EQ(widest, width);
  }
}

TEST(Plot, UnknownValuesAreAnEmptyPlot) {
  const std::string empty =
      "  none\n"
      "  0 B +\n"
      "      +------------------\n"
      "       0 s       30.000 s\n";
  EXPECT_EQ(plot({{"none", {}}}, frame(0), {25, false, false, false}), empty);
  EXPECT_EQ(plot({{"none", {kUnknown}}}, frame(1), {25, false, false, false}), empty);
}

}  // namespace
}  // namespace kmt
