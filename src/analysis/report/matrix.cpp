// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/matrix.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <variant>

#include "results/columns.hpp"

namespace kmt {

namespace {

std::uint64_t amount_of(const GroupRow& row, const Column<GroupRow>& amount) {
  const Cell cell = amount.get(row);
  const auto* const number = std::get_if<std::uint64_t>(&cell);
  return number == nullptr ? 0 : *number;
}

const Column<GroupRow>& shown_amount(const GroupTable& table, const Column<GroupRow>& amount) {
  const bool has_values = std::ranges::any_of(
      table.rows, [&amount](const GroupRow& row) { return !std::holds_alternative<std::monostate>(amount.get(row)); });
  return has_values ? amount : *find_group_column("hits");
}

// Returns the text of a value. Values with equal texts share a row or a column.
std::string text_of(std::span<const KeyValue> keys) {
  std::string text;
  for (const KeyValue& key : keys) text += plain_text(key) + '\n';
  return text;
}

// The keys and the total of one row or one column.
struct Line {
  std::vector<KeyValue> keys;
  std::uint64_t total = 0;
  std::size_t place = 0;  // position after sorting
};
using Lines = std::map<std::string, Line>;

Line& line_of(Lines& lines, std::span<const KeyValue> keys) {
  Line& line = lines[text_of(keys)];
  if (line.keys.empty()) line.keys.assign(keys.begin(), keys.end());
  return line;
}

std::vector<Line*> sorted(Lines& lines) {
  std::vector<Line*> order;
  for (auto& [text, line] : lines) order.push_back(&line);
  std::ranges::stable_sort(order, [](const Line* a, const Line* b) { return a->total > b->total; });
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->place = i;
  return order;
}

Matrix matrix_of(const GroupTable& table, const Column<GroupRow>& amount) {
  Matrix matrix{table.allocator, &shown_amount(table, amount), {}, 0, {}, {}};
  struct Amount {
    Line* row;
    Line* column;
    std::uint64_t amount;
  };
  Lines rows;
  Lines columns;
  std::vector<Amount> amounts;
  for (const GroupRow& group : table.rows) {
    const std::span<const KeyValue> keys(group.keys);
    amounts.push_back({&line_of(rows, keys.first(keys.size() - 1)), &line_of(columns, keys.last(1)),
                       amount_of(group, *matrix.amount)});
    amounts.back().row->total += amounts.back().amount;
    amounts.back().column->total += amounts.back().amount;
  }
  const std::vector<Line*> sorted_columns = sorted(columns);
  const std::size_t shown = std::min(sorted_columns.size(), Matrix::kMostColumns);
  matrix.other_columns = sorted_columns.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) matrix.columns.push_back(sorted_columns[i]->keys.front());
  matrix.total.amounts.resize(shown);
  for (const Line* row : sorted(rows))
    matrix.rows.push_back({row->keys, std::vector<std::uint64_t>(shown), 0, row->total});
  for (const Amount& cell : amounts)
    for (MatrixRow* row : {&matrix.rows[cell.row->place], &matrix.total})
      (cell.column->place < shown ? row->amounts[cell.column->place] : row->others) += cell.amount;
  for (const MatrixRow& row : matrix.rows) matrix.total.total += row.total;
  return matrix;
}

}  // namespace

std::vector<Matrix> matrices_of(const ReportResult& report, const Column<GroupRow>& amount) {
  std::vector<Matrix> matrices;
  for (const GroupTable& table : report.groups) matrices.push_back(matrix_of(table, amount));
  return matrices;
}

}  // namespace kmt
