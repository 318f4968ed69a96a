// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/series.hpp"

#include <algorithm>

namespace kmt {

bool SnapshotSeries::found() const {
  return std::ranges::any_of(rows,
                             [](const SnapshotRow& row) { return row.judged && row.verdict == LeakVerdict::certain; });
}

}  // namespace kmt
