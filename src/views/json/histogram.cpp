// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/histogram.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json values_json(const std::vector<std::string>& names, const std::vector<std::optional<std::uint64_t>>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    // The kernel printed this value a second time, as a bar. The number was already added.
    if (!values[i] && json.contains(printable(names[i]))) continue;
    const bool is_share = is_percentage(names[i]) && values[i];
    json[printable(names[i])] = is_share ? Json(static_cast<double>(*values[i]) / 100) : number_or_null(values[i]);
  }
  return json;
}

Json to_json(const Histogram& histogram, std::size_t limit) {
  Json json = Json::object();
  json["source"] = histogram.source == HistogramSource::allocinfo ? "allocinfo" : "trigger";
  json["trigger"] = text_or_null(printable(histogram.trigger));
  json["hits"] = number_or_null(histogram.hits);
  json["entries"] = number_or_null(histogram.entries);
  json["dropped"] = number_or_null(histogram.dropped);
  json["unreadable_rows"] = histogram.unreadable_rows;
  const HistogramDifference difference = difference_from_totals(histogram);
  json["differs_from_totals"] = difference.entries || difference.hits;
  json["sums"] = values_json(histogram.values, sums_of(histogram));
  json["rows_total"] = histogram.rows.size();
  json["rows"] = Json::array();
  for (const HistogramRow& row : histogram.rows) {
    if (limit != 0 && json["rows"].size() == limit) break;
    Json one = Json::object();
    one["keys"] = Json::object();
    for (std::size_t i = 0; i < histogram.keys.size(); ++i)
      one["keys"][printable(histogram.keys[i])] = printable(row.keys[i]);
    one["approximate"] = row.approximate;
    one["values"] = values_json(histogram.values, row.values);
    json["rows"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string json_histograms(const std::string& path, const std::vector<Histogram>& histograms, std::size_t limit) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.histogram/1";
  json["path"] = printable(path);
  json["histograms"] = Json::array();
  for (const Histogram& histogram : histograms) json["histograms"].push_back(to_json(histogram, limit));
  return dump(json);
}

}  // namespace kmt
