// SPDX-License-Identifier: GPL-2.0-or-later
// Draws numbers with block or braille characters, or in ASCII. If there are more values than places, each place shows
// its greatest value, so that peaks stay visible. Infinite and NaN values count as unknown and are left blank. The
// scale includes zero unless `from_least` is set.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "views/text/style.hpp"

namespace kmt {

// Returns one character for each cell: "▁▂▅█".
std::string sparkline(std::span<const double> values, std::size_t cells, const TextStyle& style);

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // values at equal distances, from the start to the end
};

struct PlotFrame {
  std::size_t height = 8;  // height of the curve in lines of text
  std::string begin;       // labels of the left and the right end: "0 s", "30.000 s"
  std::string end;
  std::function<std::string(double)> say;  // returns the text for a value on the axis
  // true: the scale starts at the smallest value, so that small changes of large values are visible
  bool from_least = false;
};

// Returns a plot as wide as the style allows. Each line ends with a newline. A single series is drawn as an area.
// Several series share one plot with a legend. Without colour, each series has its own plot and scale instead.
std::string plot(const std::vector<PlotSeries>& series, const PlotFrame& frame, const TextStyle& style);

}  // namespace kmt
