// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the tables of a report into matrices: the values of the last key become columns.
#pragma once

#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

// Returns a matrix for each table of the report. The report needs at least two keys. If a table has no values in the
// column `amount`, its matrix shows the number of allocations.
std::vector<Matrix> matrices_of(const ReportResult& report, const Column<GroupRow>& amount);

}  // namespace kmt
