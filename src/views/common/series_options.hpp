// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON results for a series of snapshots: which part to show, and in which order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "results/snapshot/series.hpp"

namespace kmt {

enum class SeriesOrder : std::uint8_t {
  growth,  // shows only growing rows: first confirmed growth, then the other rows; both sorted by growth rate
  change,  // sorts by the change between the first and the last snapshot, largest change first
};

struct SeriesOptions {
  SeriesOrder order = SeriesOrder::growth;
  std::size_t limit = 10;  // maximum number of rows per part; 0: all

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

// Returns the rows of a part in the requested order. The order by growth returns only growing rows. In the order by
// change, the rows of the balance sheet are not sorted.
inline std::vector<const SnapshotRow*> sorted_rows(const SnapshotSeries& series, SnapshotPart part, SeriesOrder order) {
  const bool by_growth = order == SeriesOrder::growth;
  std::vector<const SnapshotRow*> rows;
  for (const SnapshotRow& row : series.rows)
    if (row.part == part && (!by_growth || (row.judged && row.trend.bytes_per_s > 0))) rows.push_back(&row);
  if (!by_growth && part == SnapshotPart::balance_sheet) return rows;
  const auto size = [&](const SnapshotRow* row) {
    return by_growth ? row->trend.bytes_per_s : std::abs(row->change());
  };
  std::ranges::stable_sort(rows, [&](const auto* a, const auto* b) {
    if (by_growth && a->verdict != b->verdict) return a->verdict > b->verdict;
    return size(a) > size(b);
  });
  return rows;
}

}  // namespace kmt
