// SPDX-License-Identifier: GPL-2.0-or-later
// One HTML file that needs nothing else: the front end of web/ and the data that it shows (docs/formats/html-json.md).
#pragma once

#include <string>
#include <vector>

namespace kmt {

// JSON documents of one trace.
struct HtmlTrace {
  std::string report;
  std::string caches;  // the `groups` of a report by cache, and by task
  std::string tasks;
  std::string leaks;
  std::string timeline;
  std::string explore;
  std::string calls;  // "null": the trace holds none
};

// Of one trace, or of two and their diff's JSON document. `investigation`: a document of `investigate`, of no trace
// too; empty: there is none. `front`: the part that is seen first ("calls", "findings"); empty: as usual.
std::string html_report(const std::vector<HtmlTrace>& traces, const std::string& diff,
                        const std::string& investigation = {}, const std::string& front = {});

}  // namespace kmt
