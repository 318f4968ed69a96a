// SPDX-License-Identifier: GPL-2.0-or-later
// One self-contained HTML file: the front end of web/ and its data (docs/formats/html-json.md).
#pragma once

#include <string>
#include <vector>

namespace kmt {

// JSON documents of one trace.
struct HtmlTrace {
  std::string report;
  std::string caches;  // the `groups` of a report by cache and of one by task
  std::string tasks;
  std::string leaks;
  std::string timeline;
  std::string explore;
  std::string calls;  // "null": the trace has no calls
};

// A page about one trace, or about two and the JSON of their diff. `investigation`: document of `investigate`, which
// may come without a trace; empty: none. `front`: the section shown first ("calls", "findings"); empty: the default.
std::string html_report(const std::vector<HtmlTrace>& traces, const std::string& diff,
                        const std::string& investigation = {}, const std::string& front = {});

}  // namespace kmt
