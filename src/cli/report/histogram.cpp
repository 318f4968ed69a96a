// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/histogram.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/input/reading.hpp"
#include "cli/report/series.hpp"
#include "cli/support/output.hpp"
#include "cli/support/say.hpp"
#include "formats/text/histogram.hpp"
#include "formats/text/reader.hpp"
#include "reading/standard_input.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/parsers.hpp"
#include "views/json/histogram.hpp"
#include "views/text/histogram.hpp"

namespace kmt {

namespace {

// Returns the sums of a copy of /proc/allocinfo, those with most bytes first.
Histogram sums_of_allocinfo(std::string_view text) {
  KernelMemory memory;
  parse_allocinfo(text, memory);
  std::ranges::stable_sort(memory.allocinfo, std::greater(), &AllocationSite::bytes);
  Histogram sums{.source = HistogramSource::allocinfo, .keys = {"call_site", "module"}, .values = {"calls", "bytes"}};
  sums.hits = 0;
  sums.entries = memory.allocinfo.size();
  sums.unreadable_rows = memory.unknown_lines;
  if (memory.allocinfo.empty() && memory.unknown_lines > 0)
    throw Error(fmt::format("No line of allocinfo can be read, such as \"{}\"", printable(memory.unknown.front().line)))
        .hint(
            "Give an unchanged copy of /proc/allocinfo, or one whose lines have a size, a number of calls and a place");
  for (const MissingSource& missing : memory.missing)
    if (missing.name == "units" || missing.name == "copies") say("note: {}\n", missing.why);
  for (const AllocationSite& site : memory.allocinfo) {
    *sums.hits += site.count;
    sums.rows.push_back({{site.name, site.of}, {site.count, site.bytes}, site.approximate});
  }
  return sums;
}

}  // namespace

bool print_histograms(const Command& command, const TraceOptions& files, std::size_t limit,
                      const ResultOptions& result) {
  if (files.files.size() != 1) return false;
  const std::string& path = files.files.front();
  std::error_code code;
  if (path != "-" && !std::filesystem::is_regular_file(path, code)) return false;
  const auto mapping = path == "-" ? nullptr : std::make_shared<const MappedFile>(path);
  const Bytes bytes = mapping ? mapping->bytes() : standard_input().bytes;
  const bool is_histogram = text::is_histogram(bytes);
  const std::string_view content = as_text(bytes);
  if (!is_histogram && !is_allocinfo(content)) return false;
  refuse_event_options(command, is_histogram ? "a histogram" : "a copy of allocinfo");
  std::string allocinfo(is_histogram ? std::string_view() : content);
  for (const std::string& why : undo_changes("allocinfo", allocinfo)) say("note: {}\n", why);
  if (is_histogram && text::is_text(bytes))
    say("note: the text also has lines of events, which are not shown: copy them to another file\n");
  const std::vector<Histogram> histograms =
      is_histogram ? text::read_histograms(bytes) : std::vector{sums_of_allocinfo(allocinfo)};
  print_result(result.json ? json_histograms(path, histograms, limit)
                           : text_histograms(path, histograms, limit, stdout_style(result.style)));
  return true;
}

}  // namespace kmt
