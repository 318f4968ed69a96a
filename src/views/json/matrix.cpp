// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/matrix.hpp"

#include <string>

#include "results/columns.hpp"
#include "views/json/groups.hpp"

namespace kmt {

namespace {

Json to_json(const MatrixRow& row, const std::vector<GroupKey>& by) {
  Json json = Json::object();
  if (!row.keys.empty()) json["keys"] = Json::object();
  for (std::size_t i = 0; i < row.keys.size(); ++i)
    json["keys"][std::string(info_of(by[i]).name)] = key_to_json(by[i], row.keys[i]);
  json["amounts"] = row.amounts;
  json["others"] = row.others;
  json["total"] = row.total;
  return json;
}

Json to_json(const Matrix& matrix, const std::vector<GroupKey>& by, const ReportOptions& options) {
  Json json = Json::object();
  json["amount"] = matrix.amount->key;
  json["column_key"] = info_of(by.back()).name;
  json["columns"] = Json::array();
  for (const KeyValue& value : matrix.columns) json["columns"].push_back(key_to_json(by.back(), value));
  json["other_columns"] = matrix.other_columns;
  json["total_rows"] = matrix.rows.size();
  json["rows"] = Json::array();
  const std::size_t shown = shown_rows(options, matrix.rows.size());
  for (std::size_t i = 0; i < shown; ++i) json["rows"].push_back(to_json(matrix.rows[i], by));
  json["others"] = to_json(sum_of_rows(matrix, shown), by);
  json["total"] = to_json(matrix.total, by);
  return json;
}

}  // namespace

Json matrices_to_json(const std::vector<Matrix>& matrices, const std::vector<GroupKey>& by,
                      const ReportOptions& options) {
  Json json = Json::object();
  for (const Matrix& matrix : matrices) json[std::string(name_of(matrix.allocator))] = to_json(matrix, by, options);
  return json;
}

}  // namespace kmt
