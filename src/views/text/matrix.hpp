// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the matrices of `report --matrix` as text.
#pragma once

#include <string>
#include <vector>

#include "results/report/matrix.hpp"
#include "views/common/report_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the matrices as text. `by` has the keys of the report. Columns that do not fit into the width are summed up
// in the column "others".
std::string text_matrices(const std::vector<Matrix>& matrices, const std::vector<GroupKey>& by,
                          const ReportOptions& options, const TextStyle& style);

}  // namespace kmt
