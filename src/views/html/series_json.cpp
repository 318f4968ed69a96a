// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/series_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "views/common/series_options.hpp"

namespace kmt {

namespace {

using OverviewJson = nlohmann::ordered_json;

constexpr std::size_t kMostGrowing = 20;  // maximum number of growing rows of each part

OverviewJson known_text(const std::string& text) {
  return text.empty() ? OverviewJson(nullptr) : OverviewJson(printable(text));
}

OverviewJson bytes_of(const std::vector<double>& values) {
  OverviewJson json = OverviewJson::array();
  for (const double value : values)
    json.push_back(std::isnan(value) ? OverviewJson(nullptr)
                                     : OverviewJson(static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18))));
  return json;
}

std::string_view id_of(HealthUnit unit) {
  switch (unit) {
    case HealthUnit::share: return "share";
    case HealthUnit::count: return "count";
    case HealthUnit::bytes: break;
  }
  return "bytes";
}

OverviewJson growing_rows(const SnapshotSeries& series) {
  OverviewJson rows = OverviewJson::array();
  for (const SnapshotPart part : kSnapshotParts) {
    const auto sorted = sorted_rows(series, part, SeriesOrder::growth);
    for (std::size_t i = 0; i < std::min(sorted.size(), kMostGrowing); ++i) {
      const SnapshotRow& row = *sorted[i];
      rows.push_back({{"part", describe(part).one},
                      {"name", printable(row.label)},
                      {"verdict", describe(row.verdict).id},
                      {"bytes_per_s", row.trend.bytes_per_s},
                      {"least_bytes_per_s", row.trend.low},
                      {"first_bytes", row.values.front()},
                      {"last_bytes", row.values.back()},
                      {"certain", row.verdict == LeakVerdict::certain}});
    }
  }
  return rows;
}

}  // namespace

std::string json_series_overview(const SeriesOverview& overview) {
  OverviewJson json = OverviewJson::object();
  json["schema"] = "kmemtrace.series-overview/1";
  json["first_unix_ns"] = overview.first_unix_ns;
  json["last_unix_ns"] = overview.last_unix_ns;
  json["snapshots"] = overview.snapshots;
  json["bands"] = OverviewJson::array();
  for (const SeriesBand& band : overview.bands)
    json["bands"].push_back(
        {{"id", band.id}, {"label", band.label}, {"least", bytes_of(band.least)}, {"most", bytes_of(band.most)}});
  json["boots_unix_ns"] = overview.boots_unix_ns;
  json["oom_kills"] = OverviewJson::array();
  for (const OomKills& one : overview.oom_kills)
    json["oom_kills"].push_back({{"unix_ns", one.unix_ns}, {"kills", one.kills}});
  json["alerts"] = OverviewJson::array();
  for (const HealthAlert& alert : overview.alerts) {
    const HealthLimits& limits = limits_of(alert.topic);
    json["alerts"].push_back({{"id", limits.id},
                              {"label", limits.label},
                              {"subject", known_text(alert.subject)},
                              {"health", name_of(alert.worst)},
                              {"value", alert.value},
                              {"unit", id_of(limits.unit)},
                              {"first_unix_ns", alert.first_unix_ns},
                              {"last_unix_ns", alert.last_unix_ns},
                              {"reason", limits.reason}});
  }
  json["files"] = OverviewJson::array();
  for (const SnapshotSeries& series : overview.growth)
    json["files"].push_back({{"path", printable(series.path)},
                             {"release", known_text(series.release)},
                             {"snapshots", series.stored},
                             {"damaged", series.damaged},
                             {"finished", series.finished},
                             {"growth_found", series.found()},
                             {"growth", growing_rows(series)}});
  return json.dump();
}

}  // namespace kmt
