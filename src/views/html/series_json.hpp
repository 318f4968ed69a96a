// SPDX-License-Identifier: GPL-2.0-or-later
// JSON for the page of a long series of snapshots: docs/formats/html-json.md, "The page of a series".
#pragma once

#include <string>

#include "results/snapshot/series_overview.hpp"

namespace kmt {

std::string json_series_overview(const SeriesOverview& overview);

}  // namespace kmt
