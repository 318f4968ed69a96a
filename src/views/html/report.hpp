// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one self-contained HTML file: the front end of web/ and its data (docs/formats/html-json.md).
#pragma once

#include <string>
#include <vector>

namespace kmt {

// JSON documents of one trace.
struct HtmlTrace {
  std::string report;
  std::string caches;  // `groups` of a report by cache; `tasks`: of a report by task
  std::string tasks;
  std::string leaks;
  std::string timeline;
  std::string explore;
  std::string calls;  // "null": the trace has no calls
};

// Returns a page about one trace, or about two traces and their diff (JSON). `investigation` is the JSON document of
// `investigate`, or empty; the page may have it without a trace. `front` is the section shown first ("calls",
// "findings"); empty: the default.
std::string html_report(const std::vector<HtmlTrace>& traces, const std::string& diff,
                        const std::string& investigation = {}, const std::string& front = {});

}  // namespace kmt
