// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one self-contained HTML file with the front end of web/ and its data (docs/formats/html-json.md).
#pragma once

#include <string>
#include <vector>

namespace kmt {

// The JSON documents about one trace.
struct HtmlTrace {
  std::string report;
  std::string caches;  // only the member `groups` of a report by cache
  std::string tasks;   // only the member `groups` of a report by task
  std::string leaks;
  std::string timeline;
  std::string explore;
  std::string calls;  // the traced calls; "null" if the trace has no calls
};

// Returns a page about one trace, or about two traces and their `diff` in JSON. `investigation` is the JSON document of
// `investigate`, or empty; a page with this document needs no trace. `front` is the section that the page shows first
// ("calls" or "findings"); if empty, the page shows the default section first.
std::string html_report(const std::vector<HtmlTrace>& traces, const std::string& diff,
                        const std::string& investigation = {}, const std::string& front = {});

}  // namespace kmt
