// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/rise.hpp"

#include <algorithm>

namespace kmt {

namespace {

double needed_evenness(std::size_t judged) {
  return 1 - (1 - kGrowthConfidence) / static_cast<double>(std::max<std::size_t>(judged, 1));
}

}  // namespace

bool is_far_more_even(const Trend& trend, std::size_t judged) {
  constexpr double kFar = 0.01;
  return 1 - trend.evenness <= kFar * (1 - needed_evenness(judged));
}

Rise rise_of(std::span<const double> values, double seconds_between, double threshold, std::size_t judged) {
  Rise rise;
  if (values.size() < 2) return rise;
  rise.trend = trend_of(values, seconds_between);
  rise.bytes = values.back() - values.front();
  rise.bytes_per_s = rise.bytes / (static_cast<double>(values.size() - 1) * seconds_between);
  const Trend& trend = rise.trend;
  const auto is_above = [&](double least) {
    return trend.growth == Growth::steady && trend.low > least && trend.late_bytes_per_s > least &&
           rise.bytes >= kLeastRise;
  };
  const bool is_even = trend.evenness >= needed_evenness(judged);
  rise.above = is_above(threshold);
  rise.sure = rise.above && is_even;
  rise.slow = !rise.above && is_even && is_above(0);
  return rise;
}

}  // namespace kmt
