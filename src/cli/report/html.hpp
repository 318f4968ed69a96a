// SPDX-License-Identifier: GPL-2.0-or-later
// --html: a report, or a comparison, as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "cli/input/analyse.hpp"

namespace kmt {

using TraceFiles = std::vector<std::string>;  // of one trace; empty: the usual one

// Reads each of the traces, of which there are one or two; with an investigation's document, none or one. `calls`,
// where given: which calls the page has, and that they are in front. False where Ctrl+C ended a reading: the page is of
// what was read. Throws Error.
bool write_html(const std::string& path, const std::vector<TraceFiles>& traces, const AnalyseOptions& options,
                const ReportFilter& filter, const std::string& investigation = {},
                const CallGraphRequest* calls = nullptr);

}  // namespace kmt
