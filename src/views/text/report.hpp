// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a report as text.
#pragma once

#include <string>

#include "views/common/report_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_report(const ReportResult& result, const ReportOptions& options, const TextStyle& style);

}  // namespace kmt
