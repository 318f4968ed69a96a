// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/series.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json time_or_null(std::uint64_t unix_ns) { return unix_ns == 0 ? Json(nullptr) : Json(unix_ns); }

Json to_json(const SnapshotRow& row) {
  Json json = Json::object();
  json["name"] = printable(row.name);
  if (row.part == SnapshotPart::balance_sheet) {
    json["label"] = row.label;
    json["depth"] = row.depth;
    json["counted"] = row.counted;
  }
  json["verdict"] = row.judged ? Json(describe(row.verdict).id) : Json(nullptr);
  json["growth"] = to_json(row.trend);
  if (row.in_sheaves > 0) json["in_sheaves_bytes"] = static_cast<std::int64_t>(std::min(row.in_sheaves, 9e18));
  json["first"] = row.first;
  const char* const amounts = counts_cgroups(row.part) ? "counts" : "bytes";
  json[amounts] = Json::array();
  constexpr double kMost = 9e18;
  for (const double value : row.values)
    json[amounts].push_back(static_cast<std::int64_t>(std::clamp(value, -kMost, kMost)));
  return json;
}

}  // namespace

std::string json_series(const SnapshotSeries& series, const SeriesOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.series/1";
  json["path"] = printable(series.path);
  json["release"] = text_or_null(series.release);
  json["machine"] = text_or_null(series.machine);
  json["cgroup"] = text_or_null(series.cgroup);
  json["first_unix_ns"] = time_or_null(series.first_unix_ns);
  json["last_unix_ns"] = time_or_null(series.last_unix_ns);
  json["total_bytes"] = series.total;
  json["snapshots"] = series.stored;
  json["damaged"] = series.damaged;
  for (const std::string& damage : series.damage) json["damage"].push_back(printable(damage));
  for (const std::string& note : series.notes) json["notes"].push_back(printable(note));
  json["finished"] = series.finished;
  json["elapsed_ns"] = series.elapsed_ns;
  json["threshold_bytes_per_s"] = series.threshold_bytes_per_s;
  json["judged"] = series.judged;
  json["evenness_needed"] = series.confidence_needed;
  json["growth_found"] = series.found();
  json["unclear"] = series.is_unclear();
  for (const SnapshotPart part : kSnapshotParts) {
    const auto rows = sorted_rows(series, part, options.order);
    const std::string key(describe(part).id);
    json[key + "_total"] = rows.size();
    json[key] = Json::array();
    const bool is_sheet = part == SnapshotPart::balance_sheet;
    for (std::size_t i = 0; i < (is_sheet ? rows.size() : options.shown(rows.size())); ++i)
      json[key].push_back(to_json(*rows[i]));
  }
  return dump(json);
}

}  // namespace kmt
