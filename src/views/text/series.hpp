// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a series of snapshots as text: growth, changes and plots.
#pragma once

#include <string>

#include "views/common/series_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_series_leaks(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style);
std::string text_series_report(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style);
std::string text_series_timeline(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style);

}  // namespace kmt
