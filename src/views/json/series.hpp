// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a series of snapshots as JSON (docs/formats/series-json.md).
#pragma once

#include <string>

#include "views/common/series_options.hpp"

namespace kmt {

std::string json_series(const SnapshotSeries& series, const SeriesOptions& options);

}  // namespace kmt
