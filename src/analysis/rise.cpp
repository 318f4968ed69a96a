// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rise.hpp"

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
  rise.above = trend.growth == Growth::steady && trend.low > threshold && trend.late_bytes_per_s > threshold &&
               rise.bytes >= kLeastRise;
  rise.sure = rise.above && trend.evenness >= needed_evenness(judged);
  return rise;
}

}  // namespace kmt
