// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as pictures of characters, one column each: of block and braille characters, or of ASCII where the style has
// no others. More values than there is room for show the greatest of each place, so that peaks are seen. Values that
// are not finite are unknown, and blank. The scale has the zero, unless it is asked for without.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "views/text/style.hpp"

namespace kmt {

// "▁▂▅█": as many characters as cells.
std::string sparkline(std::span<const double> values, std::size_t cells, const TextStyle& style);

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // at equal distances from the begin to the end
};

struct PlotFrame {
  std::size_t height = 8;  // lines of the curve
  std::string begin;       // what the left and the right end are: "0 s", "30.000 s"
  std::string end;
  std::function<std::string(double)> say;  // a value, as a label
  bool from_least = false;                 // the scale begins there, not at 0: small changes of much are seen
};

// Lines, as wide as the style allows, ended by a newline each. One series is an area. Several share the plot and have a
// legend where colours tell them apart; without colour each has a plot and a scale of its own.
std::string plot(const std::vector<PlotSeries>& series, const PlotFrame& frame, const TextStyle& style);

}  // namespace kmt
