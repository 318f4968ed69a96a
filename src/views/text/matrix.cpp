// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/matrix.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

constexpr std::size_t kHeaderWidth = 16;
constexpr std::size_t kKeyWidth = 26;  // width of each name in characters, including blanks

std::string header_of(GroupKey key, const KeyValue& value, const TextStyle& style) {
  const std::string text = key_text(key, value, style);
  return style.raw ? text : shortened(text, kHeaderWidth);
}

// Returns the number of columns that fit next to the names, the column "others" and the total.
std::size_t columns_that_fit(const Matrix& matrix, const std::vector<GroupKey>& by, const TextStyle& style) {
  if (style.raw) return matrix.columns.size();
  constexpr std::size_t kOthersAndTotal = 24;
  std::size_t used = (by.size() - 1) * kKeyWidth + kOthersAndTotal;
  std::size_t columns = 0;
  for (; columns < matrix.columns.size(); ++columns) {
    used += std::max<std::size_t>(header_of(by.back(), matrix.columns[columns], style).size(), 9) + 2;
    if (used > style.width && columns > 0) break;
  }
  return columns;
}

// Returns the amounts of a line, in the order of the table's columns.
std::vector<std::uint64_t> amounts_of(const MatrixRow& row, std::size_t columns, bool has_others) {
  std::vector<std::uint64_t> amounts(row.amounts.begin(), row.amounts.begin() + static_cast<std::ptrdiff_t>(columns));
  std::uint64_t others = row.others;
  for (std::size_t i = columns; i < row.amounts.size(); ++i) others += row.amounts[i];
  if (has_others) amounts.push_back(others);
  amounts.push_back(row.total);
  return amounts;
}

std::string text_matrix(const Matrix& matrix, const std::vector<GroupKey>& by, const ReportOptions& options,
                        const TextStyle& style) {
  const std::size_t columns = columns_that_fit(matrix, by, style);
  const std::size_t others = matrix.other_columns + matrix.columns.size() - columns;
  const std::size_t shown = shown_rows(options, matrix.rows.size());
  Table table;
  std::string keys;
  for (std::size_t i = 0; i + 1 < by.size(); ++i) {
    table.columns.push_back({std::string(info_of(by[i]).header), true});
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", info_of(by[i]).name);
  }
  for (std::size_t i = 0; i < columns; ++i) table.columns.push_back({header_of(by.back(), matrix.columns[i], style)});
  if (others > 0) table.columns.push_back({fmt::format("{} others", others)});
  table.columns.push_back({"Total"});

  const auto add_row = [&](std::vector<std::string> names, const MatrixRow& row, bool aside) {
    names.resize(by.size() - 1);
    for (const std::uint64_t amount : amounts_of(row, columns, others > 0))
      names.push_back(amount == 0 && !style.raw ? "-" : cell_text(Cell{amount}, matrix.amount->unit, style.raw));
    table.rows.push_back({std::move(names), aside});
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const MatrixRow& row = matrix.rows[i];
    std::vector<std::string> names;
    for (std::size_t key = 0; key < row.keys.size(); ++key) names.push_back(key_text(by[key], row.keys[key], style));
    add_row(std::move(names), row, false);
  }
  if (shown < matrix.rows.size())
    add_row({fmt::format("{} others", say_count(matrix.rows.size() - shown, style))}, sum_of_rows(matrix, shown), true);
  add_row({"total"}, matrix.total, true);
  const std::string title = fmt::format("{} by {}, columns: {}; {}", capitalised(matrix.allocator), keys,
                                        info_of(by.back()).name, matrix.amount->header);
  return "\n" + heading(title, style) + to_text(table, style);
}

}  // namespace

std::string text_matrices(const std::vector<Matrix>& matrices, const std::vector<GroupKey>& by,
                          const ReportOptions& options, const TextStyle& style) {
  std::string out;
  for (const Matrix& matrix : matrices) out += text_matrix(matrix, by, options, style);
  return out;
}

}  // namespace kmt
