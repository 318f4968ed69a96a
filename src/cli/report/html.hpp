// SPDX-License-Identifier: GPL-2.0-or-later
// --html: writes a report or a comparison as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "cli/input/analyse.hpp"

namespace kmt {

using TraceFiles = std::vector<std::string>;  // files of one trace; empty: the default trace

// Reads one or two traces. If `investigation` has a document, reads none or one. If `calls` is given, the page shows
// these calls first. Returns false if Ctrl+C ended the reading; the page then covers only a part. Throws Error.
bool write_html(const std::string& path, const std::vector<TraceFiles>& traces, const AnalyseOptions& options,
                const ReportFilter& filter, const std::string& investigation = {},
                const CallGraphRequest* calls = nullptr);

}  // namespace kmt
