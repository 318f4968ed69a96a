// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace kmt {

enum class Growth : std::uint8_t {
  too_few_points,  // fewer than Trend::kFewestValues values
  none,            // random allocations and frees could cause the same growth
  // Grew, but in the second half at less than half the rate. For example, a cache has filled up, or the cause has
  // ended.
  past,
  steady,  // grew and still grows
};

// The growth of a value over time.
struct Trend {
  static constexpr std::size_t kFewestValues = 16;

  Growth growth = Growth::too_few_points;
  double bytes_per_s = 0;  // negative if the value shrinks
  double low = 0;          // 95 % confidence interval of bytes_per_s, in bytes per second
  double high = 0;
  double late_bytes_per_s = 0;  // slope in the second half of the time, in bytes per second
  double late_high = 0;         // upper bound of the 95 % confidence interval of late_bytes_per_s, in bytes per second
  // 0 to 1: the probability that a random walk rises less steadily, by Kendall's tau (see analysis/series/trend.hpp);
  // at most 0.9995.
  double confidence = 0;
  // 0 to 1: the probability that a random walk rises less steadily, by Student's t. May be arbitrarily close to 1.
  double evenness = 0;
};

}  // namespace kmt
