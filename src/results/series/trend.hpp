// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace kmt {

enum class Growth : std::uint8_t {
  too_few_points,  // fewer than Trend::kFewestValues values
  none,            // not more than random allocation may grow
  past,    // it grew, but in the last half at less than half of the rate: a cache that fills, an end of the cause
  steady,  // it grew and still does
};

// How a value grew over time.
struct Trend {
  static constexpr std::size_t kFewestValues = 16;

  Growth growth = Growth::too_few_points;
  double bytes_per_s = 0;  // negative where it shrinks
  double low = 0;          // the slope lies between them, with a confidence of 95 %
  double high = 0;
  double late_bytes_per_s = 0;  // slope of the last half
  double confidence = 0;        // 0 to 1: the probability that a random walk rises less steadily; at most 0.9995
  double evenness = 0;          // 0 to 1: the probability that the rises of a random walk are less even; exact up to 1
};

}  // namespace kmt
