// SPDX-License-Identifier: GPL-2.0-or-later
// Reads long series of snapshots for a page.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/snapshot/series_overview.hpp"

namespace kmt {

// Reads the amounts of every snapshot, and judges growth in each file as read_series() does. `paths` are files with
// snapshots, in any order. Throws Error if no snapshot is readable, if a file has no times, if the times of two files
// overlap, or if `interrupted` returns true.
SeriesOverview read_overview(const std::vector<std::string>& paths, double threshold_bytes_per_s,
                             const std::function<bool()>& interrupted);

}  // namespace kmt
