// SPDX-License-Identifier: GPL-2.0-or-later
// `report` for people.
#pragma once

#include <string>

#include "views/report_options.hpp"
#include "views/text_style.hpp"

namespace kmt {

std::string text_report(const ReportResult& result, const ReportOptions& options, const TextStyle& style);

}  // namespace kmt
