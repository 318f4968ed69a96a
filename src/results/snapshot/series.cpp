// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/series.hpp"

#include <algorithm>

namespace kmt {

bool SnapshotSeries::found() const {
  return std::ranges::any_of(rows,
                             [](const SnapshotRow& row) { return row.judged && row.verdict == LeakVerdict::certain; });
}

bool SnapshotSeries::is_unclear() const {
  return !found() && (elapsed_ns.size() < Trend::kFewestValues || span_ns() == 0);
}

}  // namespace kmt
