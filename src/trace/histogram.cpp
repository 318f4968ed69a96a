// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/histogram.hpp"

namespace kmt {

bool is_percentage(std::string_view value_name) { return value_name.ends_with(" (%)"); }

std::vector<std::optional<std::uint64_t>> sums_of(const Histogram& histogram) {
  std::vector<std::optional<std::uint64_t>> sums(histogram.values.size(), 0);
  for (const HistogramRow& row : histogram.rows)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool is_known = sums[i] && row.values[i] && !__builtin_add_overflow(*sums[i], *row.values[i], &*sums[i]);
      if (!is_known) sums[i].reset();
    }
  return sums;
}

HistogramDifference difference_from_totals(const Histogram& histogram) {
  if (histogram.source != HistogramSource::trigger) return {};
  HistogramDifference difference;
  difference.entries = histogram.entries && *histogram.entries != histogram.rows.size();
  if (!histogram.values.empty() && histogram.values.front() == "hitcount")
    difference.hits = histogram.hits && sums_of(histogram).front() != histogram.hits;
  return difference;
}

}  // namespace kmt
