// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as pictures of characters, one column each: block and braille characters, or ASCII. If space is short, each
// place shows the greatest of its values, so peaks stay visible. Infinite and NaN values are unknown, and blank. The
// scale includes zero unless `from_least` is set.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "views/text/style.hpp"

namespace kmt {

// "▁▂▅█": one character for each cell.
std::string sparkline(std::span<const double> values, std::size_t cells, const TextStyle& style);

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // at equal distances from the start to the end
};

struct PlotFrame {
  std::size_t height = 8;  // lines of the curve
  std::string begin;       // labels of the left and the right end: "0 s", "30.000 s"
  std::string end;
  std::function<std::string(double)> say;  // label of a value
  bool from_least = false;  // starts the scale at the smallest value, to show small changes of large values
};

// A plot as wide as the style allows; each line ends with a newline. A single series is an area. Several series share a
// plot with a legend; without colour each has its own plot and scale.
std::string plot(const std::vector<PlotSeries>& series, const PlotFrame& frame, const TextStyle& style);

}  // namespace kmt
