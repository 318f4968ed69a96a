// SPDX-License-Identifier: GPL-2.0-or-later
// The C interface: versions, errors, and results as JSON.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <kmemtrace/version.hpp>

#include "analysis/report/leaks.hpp"
#include "library/analyse.hpp"
#include "library/c_interface.hpp"
#include "reading/snapshots.hpp"
#include "results/series/thresholds.hpp"
#include "views/json/leaks.hpp"
#include "views/json/report.hpp"
#include "views/json/series.hpp"
#include "views/json/snapshot.hpp"

namespace kmemtrace {

char* copy_of(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::copy(text.begin(), text.end(), copy);
  copy[text.size()] = '\0';
  return copy;
}

namespace {

// Returns the options that the caller knows, and the defaults of the others. A caller that was built with an older
// header has a shorter structure.
kmt_options complete(const kmt_options* given) {
  kmt_options options{};
  if (given != nullptr) std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  return options;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

std::vector<kmt::GroupKey> keys_of(const char* by) {
  std::vector<std::string> names(1);
  for (const char* c = by; *c != '\0'; ++c) {
    if (*c == ',')
      names.emplace_back();
    else
      names.back() += *c;
  }
  return keys_named(names);
}

const kmt::Column<kmt::GroupRow>* report_column(const kmt_options& options, const std::vector<kmt::GroupKey>& by) {
  const std::string key = text_of(options.sort);
  if (key.empty()) return by == std::vector{kmt::GroupKey::lifetime} ? kmt::find_group_column("name") : nullptr;
  const kmt::Column<kmt::GroupRow>* const column = kmt::find_group_column(key);
  if (column == nullptr || column->needs_window)
    throw Error("Unknown column \"" + key + "\"", "", {}, "`kmemtrace report --help` lists the columns");
  return column;
}

double threshold_of(const kmt_options& options) {
  if (!std::isfinite(options.threshold_bytes_per_s) || options.threshold_bytes_per_s < 0)
    throw Error(fmt::format("The threshold is {} bytes per second", options.threshold_bytes_per_s), "", {},
                "Use a positive number, or 0 for the default of the command");
  return options.threshold_bytes_per_s > 0 ? options.threshold_bytes_per_s : kmt::kThresholds.usual_bytes_per_s;
}

std::string series_text(const char* path, const kmt_options& options, kmt::SeriesOrder order) {
  if (options.by != nullptr || options.sort != nullptr)
    throw Error("A series of snapshots has no events, so `by` and `sort` do not apply", path, {}, "");
  return kmt::json_series(kmt::read_series({path}, threshold_of(options)), {order, options.limit});
}

std::string report_text(const char* path, const kmt_options& options) {
  if (kmt::is_series(path)) return series_text(path, options, kmt::SeriesOrder::change);
  kmt::ReportRequest request;
  if (options.by != nullptr) request.by = keys_of(options.by);
  kmt::ReportOptions view;
  view.sort = report_column(options, request.by);
  view.limit = options.limit;
  return kmt::json_report(analyse(path, text_of(options.kallsyms), std::move(request)).result, view);
}

std::string leaks_text(const char* path, const kmt_options& options) {
  if (kmt::is_series(path)) return series_text(path, options, kmt::SeriesOrder::growth);
  const double threshold = threshold_of(options);
  kmt::LeaksOptions view;
  view.limit = options.limit;
  if (options.sort != nullptr) view.sort = kmt::find_leak_column(options.sort);
  if (view.sort == nullptr)
    throw Error("Unknown column \"" + text_of(options.sort) + "\"", "", {},
                "`kmemtrace leaks --help` lists the columns");
  kmt::ReportRequest request;
  request.history = request.history_of_live = request.holders = request.until_cut = true;
  request.by = options.by != nullptr ? keys_of(options.by) : kmt::usual_leak_keys(false);
  if (std::ranges::any_of(request.by, kmt::is_known_when_freed))
    throw Error("Live allocations cannot be grouped by their free", "", {}, "");
  const std::string kallsyms = text_of(options.kallsyms);
  kmt::ReportResult result = analyse(path, kallsyms, request).result;
  if (options.by == nullptr && result.trace.stacks != 0) {
    request.by = kmt::usual_leak_keys(true);
    result = analyse(path, kallsyms, std::move(request)).result;
  }
  return kmt::json_leaks(kmt::leaks_of(result, threshold), view);
}

std::string snapshot_text(const char* path, const kmt_options& options) {
  kmt::SnapshotOptions view;
  view.limit = options.limit;
  return kmt::json_snapshot(kmt::read_snapshot(path), view);
}

}  // namespace

}  // namespace kmemtrace

using namespace kmemtrace;

int kmt_abi_version(void) { return KMT_ABI_VERSION; }
const char* kmt_version(void) { return version(); }
void kmt_free(char* text) { std::free(text); }

const char* kmt_error_message(const kmt_error* error) {
  return error == nullptr ? "Out of memory" : error->message.c_str();
}
const char* kmt_error_file(const kmt_error* error) {
  return error == nullptr || error->file.empty() ? nullptr : error->file.c_str();
}
int64_t kmt_error_offset(const kmt_error* error) {
  return error != nullptr && error->offset ? static_cast<std::int64_t>(*error->offset) : -1;
}
const char* kmt_error_hint(const kmt_error* error) {
  return error == nullptr || error->hint.empty() ? nullptr : error->hint.c_str();
}
void kmt_error_free(kmt_error* error) { delete error; }

char* kmt_report_json(const char* path, const kmt_options* options, kmt_error** error) {
  return without_exceptions<char*>(error, nullptr, [&] { return copy_of(report_text(path, complete(options))); });
}

char* kmt_leaks_json(const char* path, const kmt_options* options, kmt_error** error) {
  return without_exceptions<char*>(error, nullptr, [&] { return copy_of(leaks_text(path, complete(options))); });
}

char* kmt_snapshot_json(const char* path, const kmt_options* options, kmt_error** error) {
  return without_exceptions<char*>(error, nullptr, [&] { return copy_of(snapshot_text(path, complete(options))); });
}
