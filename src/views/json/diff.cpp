// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/diff.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "views/json/common.hpp"
#include "views/json/groups.hpp"

namespace kmt {

namespace {

std::string_view text_of(Verdict verdict) {
  if (verdict == Verdict::unknown) return "unknown";
  return verdict == Verdict::changed ? "changed" : "unchanged";
}

// Returns the name of the unit of a column.
std::string_view unit_of(const Column<GroupRow>& column) {
  switch (column.unit) {
    case Unit::bytes: return "bytes";
    case Unit::percent: return "percent";
    case Unit::duration: return "ns";
    default: return "count";
  }
}

Json describe_columns() {
  Json json = Json::object();
  for (const Column<GroupRow>* column : diff_columns())
    json[std::string(column->key)] = {
        {"title", column->header}, {"unit", unit_of(*column)}, {"meaning", column->meaning}};
  return json;
}

Json to_json(const Change& change) {
  Json json = Json::object();
  json["a"] = number_or_null(change.a);
  json["b"] = number_or_null(change.b);
  json["difference"] = number_or_null(change.difference);
  json["percent"] = number_or_null(change.percent);
  json["verdict"] = text_of(change.verdict);
  return json;
}

// Returns the value of a key that both traces have. Allocations of two traces are matched by the text of their keys,
// and stacks by the names of their functions.
Json joined_key_to_json(GroupKey key, const KeyValue& value) {
  const auto* const frames = std::get_if<std::vector<CodeAddress>>(&value);
  if (frames == nullptr) return key_to_json(key, value);
  Json json = Json::array();
  for (const CodeAddress& frame : *frames) json.push_back(printable(plain_text(frame)));
  return json;
}

Json columns_of(const DiffRow& row, const DiffResult& result, const DiffOptions& options,
                const std::vector<const Column<GroupRow>*>& columns) {
  Json json = Json::object();
  for (const Column<GroupRow>* column : columns)
    json[std::string(column->key)] = to_json(change_of(row, *column, result.basis, options.noise));
  return json;
}

Json to_json(const DiffRow& row, const DiffResult& result, const DiffOptions& options) {
  Json json = Json::object();
  json["keys"] = Json::object();
  for (std::size_t i = 0; i < row.keys.size(); ++i)
    json["keys"][std::string(info_of(result.by[i]).name)] = joined_key_to_json(result.by[i], row.keys[i]);
  json["in_a"] = row.in_a;
  json["in_b"] = row.in_b;
  json["verdict"] = text_of(change_of(row, *options.sort, result.basis, options.noise).verdict);
  json["columns"] = columns_of(row, result, options, diff_columns());
  return json;
}

Json to_json(const DiffTable& table, const DiffResult& result, const DiffOptions& options) {
  const DiffOrder order = ordered_rows(table, *options.sort, result.basis, options.noise);
  Json json = Json::object();
  json["total"] = table.rows.size();
  json["changed"] = order.changed.size();
  json["unchanged"] = order.unchanged.size();
  json["unknown"] = order.unknown.size();
  json["rows"] = Json::array();
  std::size_t shown = 0;
  for (const auto* part : {&order.changed, &order.unchanged, &order.unknown})
    for (const DiffRow* row : *part)
      if (options.limit == 0 || shown++ < options.limit) json["rows"].push_back(to_json(*row, result, options));
  return json;
}

Json to_json(const DiffTotal& total, const DiffResult& result, const DiffOptions& options) {
  Json json = Json::object();
  json["in_a"] = total.row.in_a;
  json["in_b"] = total.row.in_b;
  json["columns"] = columns_of(total.row, result, options, diff_columns());
  return json;
}

Json to_json(const DiffBasis& basis) {
  constexpr std::array<std::string_view, 3> kPer = {"trace", "second", "event"};
  Json json = Json::object();
  json["per"] = kPer[static_cast<std::size_t>(basis.per)];
  json["event"] = basis.per == DiffPer::event ? Json(printable(basis.event)) : Json(nullptr);
  json["a"] = basis.a;
  json["b"] = basis.b;
  json["why"] = basis.why;
  return json;
}

}  // namespace

std::string json_diff(const DiffResult& result, const DiffOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.diff/1";
  json["complete"] = result.a.complete && result.b.complete;
  json["a"] = to_json(result.a);
  json["b"] = to_json(result.b);
  json["basis"] = to_json(result.basis);
  Json noise = Json::object();
  noise["percent"] = options.noise.percent;
  noise["least_count"] = options.noise.least_count;
  noise["deviations"] = Noise::kDeviations;
  json["noise"] = std::move(noise);
  json["sort"] = options.sort->key;
  json["columns"] = describe_columns();
  json["by"] = Json::array();
  for (const GroupKey key : result.by) json["by"].push_back(info_of(key).name);
  json["totals"] = Json::object();
  for (const DiffTotal& total : result.totals)
    json["totals"][std::string(name_of(total.allocator))] = to_json(total, result, options);
  json["groups"] = Json::object();
  for (const DiffTable& table : result.tables)
    json["groups"][std::string(name_of(table.allocator))] = to_json(table, result, options);
  return dump(json);
}

}  // namespace kmt
