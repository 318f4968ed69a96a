// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the matrices of `report --matrix --json` (docs/formats/report-json.md).
#pragma once

#include <vector>

#include "results/report/matrix.hpp"
#include "views/common/report_options.hpp"
#include "views/json/common.hpp"

namespace kmt {

// Returns an object with a matrix for each allocator. `by` are the keys of the report.
Json matrices_to_json(const std::vector<Matrix>& matrices, const std::vector<GroupKey>& by,
                      const ReportOptions& options);

}  // namespace kmt
