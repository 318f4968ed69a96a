// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `report --json`. docs/formats/report-json.md has its schema.
#pragma once

#include <string>

#include "views/common/report_options.hpp"

namespace kmt {

std::string json_report(const ReportResult& result, const ReportOptions& options);
// Returns only the member `groups` of the document.
std::string json_groups(const ReportResult& result, const ReportOptions& options);

}  // namespace kmt
