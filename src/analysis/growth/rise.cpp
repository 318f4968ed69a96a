// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/rise.hpp"

#include "results/series/thresholds.hpp"

namespace kmt {

bool is_highly_significant(const Trend& trend, std::size_t judged) {
  return 1 - trend.evenness <= kThresholds.highly_significant_share * (1 - needed_evenness(judged));
}

Rise rise_of(std::span<const double> values, double seconds_between, double threshold, std::size_t judged) {
  Rise rise;
  if (values.size() < 2) return rise;
  rise.trend = trend_of(values, seconds_between);
  rise.bytes = values.back() - values.front();
  rise.bytes_per_s = rise.bytes / (static_cast<double>(values.size() - 1) * seconds_between);
  const bool is_large = rise.bytes >= kThresholds.least_rise;
  const bool is_even = rise.trend.evenness >= needed_evenness(judged);
  rise.above = is_large && rises_above(rise.trend, threshold);
  rise.sure = rise.above && is_even;
  rise.slow = is_large && is_even && rise.trend.bytes_per_s <= threshold && rises_above(rise.trend, 0);
  return rise;
}

}  // namespace kmt
