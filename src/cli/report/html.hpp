// SPDX-License-Identifier: GPL-2.0-or-later
// --html: a report, or a comparison, as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "cli/input/analyse.hpp"

namespace kmt {

using TraceFiles = std::vector<std::string>;  // of one trace; empty: the default one

// Reads one or two traces; with an investigation's document, none or one. `calls`: the page shows these calls, first.
// False if Ctrl+C ended a reading: the page then covers the part. Throws Error.
bool write_html(const std::string& path, const std::vector<TraceFiles>& traces, const AnalyseOptions& options,
                const ReportFilter& filter, const std::string& investigation = {},
                const CallGraphRequest* calls = nullptr);

}  // namespace kmt
