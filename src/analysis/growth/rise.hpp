// SPDX-License-Identifier: GPL-2.0-or-later
// Whether one series of an investigation rises, and with what certainty.
#pragma once

#include <cstddef>
#include <span>

#include "analysis/series/trend.hpp"

namespace kmt {

struct Rise {
  Trend trend;
  double bytes = 0;        // from the first to the last value
  double bytes_per_s = 0;  // of these; the only rate if there are too few values for a trend
  bool above = false;      // the threshold, steadily
  bool sure = false;       // and steadier than nearly all of `judged` random walks
  bool slow = false;       // as steady, but not above the threshold
};

// Values in bytes at equal steps; a rise above the threshold, bytes a second, of `judged` series.
Rise rise_of(std::span<const double> values, double seconds_between, double threshold, std::size_t judged);

// True if hardly one of a hundred times as many random walks is as steady.
bool is_highly_significant(const Trend& trend, std::size_t judged);

}  // namespace kmt
