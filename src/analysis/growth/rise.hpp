// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether a time series in an investigation grows, and how certain the growth is.
#pragma once

#include <cstddef>
#include <span>

#include "analysis/series/trend.hpp"

namespace kmt {

struct Rise {
  Trend trend;
  double bytes = 0;        // last value minus first value, in bytes
  double bytes_per_s = 0;  // average rate in bytes per second; the only rate if there are too few values for a trend
  bool above = false;      // true: rises steadily and faster than the threshold
  bool sure = false;       // true: `above`, and steadier than chance explains, given the number of tested series
  bool slow = false;       // true: as steady as `sure` requires, but slower than the threshold
};

// Returns the rise of a series. `values` are bytes at equal time steps, and the threshold is in bytes per second.
// `judged` is the number of series that are tested for growth.
Rise rise_of(std::span<const double> values, double seconds_between, double threshold, std::size_t judged);

// True if fewer than about one in 100 * `judged` random walks would be as steady as this trend.
bool is_highly_significant(const Trend& trend, std::size_t judged);

}  // namespace kmt
