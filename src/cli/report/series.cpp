// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/series.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"
#include "reading/series_overview.hpp"
#include "reading/snapshots.hpp"
#include "results/series/thresholds.hpp"
#include "views/html/series.hpp"
#include "views/html/series_json.hpp"
#include "views/json/series.hpp"

namespace kmt {

namespace {

constexpr std::array<std::string_view, 11> kOptions = {"FILE",          "--threshold", "--limit", "--top",
                                                       "--json",        "--raw",       "--ascii", "--no-color",
                                                       "--no-progress", "--html",      "--force"};

std::vector<std::string> files_of(const TraceOptions& options) {
  return options.files.empty() ? std::vector{default_trace()} : options.files;
}

// True for a log that is not in an archive. An archive may have copies of other files than logs.
bool is_plain_log(const std::string& path) { return is_log_file(path) && !is_archive_file(path); }

}  // namespace

void refuse_event_options(const Command& command, std::string_view content) {
  for (const Option& option : command.options) {
    if (option.given.empty()) continue;
    const auto is_known = [&](std::string_view name) { return option.has_name(name); };
    if (std::ranges::any_of(kOptions, is_known)) continue;
    throw Error(fmt::format("{} applies to events, but the file is {}", option.title(), content))
        .hint("Such a file accepts only --limit and the output-format options; `leaks` also accepts --threshold");
  }
}

bool names_series_files(const TraceOptions& options) {
  const std::vector<std::string> files = files_of(options);
  return std::ranges::all_of(files, [](const std::string& file) { return !file.empty() && is_series(file); });
}

void write_series_html(const std::string& path, const TraceOptions& options) {
  const std::vector<std::string> files = files_of(options);
  ResultFile out(path, files);
  const InterruptGuard guard;
  const std::string html = series_page(json_series_overview(
      read_overview(files, kThresholds.usual_bytes_per_s, [&guard] { return guard.interrupted(); })));
  out.write(html);
  out.finish();
  say("Wrote {} to {}\n", humane_bytes(html.size()), out.name());
}

bool names_series(const TraceOptions& options) {
  const std::vector<std::string> files = files_of(options);
  if (files.size() > 1) return std::ranges::all_of(files, is_plain_log);
  const std::string& file = files.front();
  return !file.empty() && is_series(file);
}

SnapshotSeries print_series(const Command& command, const TraceOptions& files, double threshold_bytes_per_s,
                            const SeriesOptions& view, const ResultOptions& result, SeriesText text) {
  refuse_event_options(command, "a series of snapshots");
  const InterruptGuard guard;
  SnapshotSeries series = read_series(files_of(files), threshold_bytes_per_s, [&guard] { return guard.interrupted(); });
  print_result(result.json ? json_series(series, view) : text(series, view, stdout_style(result.style)));
  return series;
}

}  // namespace kmt
