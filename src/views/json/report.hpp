// SPDX-License-Identifier: GPL-2.0-or-later
// `report --json`: the schema of docs/formats/report-json.md.
#pragma once

#include <string>

#include "views/common/report_options.hpp"

namespace kmt {

std::string json_report(const ReportResult& result, const ReportOptions& options);
// Returns only the `groups` of the report.
std::string json_groups(const ReportResult& result, const ReportOptions& options);

}  // namespace kmt
