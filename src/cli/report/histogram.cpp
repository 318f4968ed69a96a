// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/histogram.hpp"

#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "cli/input/reading.hpp"
#include "cli/report/series.hpp"
#include "cli/support/output.hpp"
#include "formats/text/histogram.hpp"
#include "views/json/histogram.hpp"
#include "views/text/histogram.hpp"

namespace kmt {

bool print_histograms(const Command& command, const TraceOptions& files, std::size_t limit,
                      const ResultOptions& result) {
  if (files.files.size() != 1) return false;
  const std::string& path = files.files.front();
  std::error_code code;
  if (path != "-" && !std::filesystem::is_regular_file(path, code)) return false;
  const auto mapping = path == "-" ? nullptr : std::make_shared<const MappedFile>(path);
  const Bytes bytes = mapping ? mapping->bytes() : standard_input().bytes;
  if (!text::is_histogram(bytes)) return false;
  refuse_event_options(command, "a histogram");
  const std::vector<Histogram> histograms = text::read_histograms(bytes);
  print_result(result.json ? json_histograms(path, histograms, limit)
                           : text_histograms(path, histograms, limit, stdout_style(result.style)));
  return true;
}

}  // namespace kmt
