// SPDX-License-Identifier: GPL-2.0-or-later
// Implements --html, which writes a report or a comparison as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "cli/input/analyse.hpp"

namespace kmt {

using TraceFiles = std::vector<std::string>;  // paths of the files of one trace; if empty, the default trace

// Reads one or two traces and writes the page. If `investigation` has a document, `traces` has at most one trace.
// If `calls` is given, the page shows these calls first. Returns false if Ctrl+C ended the reading; then the page
// covers only a part of the trace. Throws Error.
bool write_html(const std::string& path, const std::vector<TraceFiles>& traces, const AnalyseOptions& options,
                const ReportFilter& filter, const std::string& investigation = {},
                const CallGraphRequest* calls = nullptr);

}  // namespace kmt
