// SPDX-License-Identifier: GPL-2.0-or-later
// Describes every column of the tables in one place. Text tables, --sort, help and documentation use these
// descriptions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

enum class Unit : std::uint8_t { text, address, count, bytes, percent, order, duration, time, rate, bytes_per_s };

// std::monostate: the row has no such value, for example the waste of a call site whose allocations all failed.
using Cell = std::variant<std::monostate, std::uint64_t, double, std::string_view>;

template <typename Row>
struct Column {
  std::string_view key;     // name for --sort; its meaning never changes
  std::string_view header;  // aligned left for text, and right for other units
  Unit unit;
  // 0: always shown; if a table is too wide, the columns with the highest numbers are dropped first.
  unsigned importance;
  Cell (*get)(const Row&);    // a returned string_view points into the row
  std::string_view meaning;   // one sentence
  bool usual = true;          // true: shown by default; false: shown only on request
  bool needs_window = false;  // true: the column has values only if GroupRow::window is set
};

// Returns the columns of groups, without the columns of their keys. The column "name" contains the texts of all keys.
// Columns with `usual` false are shown only on request.
std::span<const Column<GroupRow>> group_columns();
std::span<const Column<PageOrderRow>> page_order_columns();

// Returns all rows, sorted: numbers in descending order (rows without a value last), text and addresses in ascending
// order. `comes_before(a, b)` orders equal rows. The pointers point into `rows`.
template <typename Row, typename ComesBefore>
std::vector<const Row*> sorted_by_column(const std::vector<Row>& rows, const Column<Row>& by,
                                         ComesBefore&& comes_before) {
  std::vector<std::pair<Cell, const Row*>> keyed;
  keyed.reserve(rows.size());
  for (const Row& row : rows) keyed.emplace_back(by.get(row), &row);
  const bool ascending = by.unit == Unit::text || by.unit == Unit::address;
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return ascending ? a.first < b.first : a.first > b.first;
    return comes_before(*a.second, *b.second);
  });
  std::vector<const Row*> sorted;
  sorted.reserve(rows.size());
  for (const auto& [cell, row] : keyed) sorted.push_back(row);
  return sorted;
}

// Returns the column with this name in --sort and --columns, or null.
const Column<GroupRow>* find_group_column(std::string_view key);

// True if the values of the column can be added, so that each group has a share of the sum. Averages, times and peaks
// cannot be added.
bool adds_up(const Column<GroupRow>& column);

// Returns all rows sorted by the column `by`: numbers in descending order (rows without a value last), names in the
// order of comes_before(). Equal rows are sorted by bytes allocated, then by name. The pointers point into `rows`.
std::vector<const GroupRow*> sorted_rows(const std::vector<GroupRow>& rows, const Column<GroupRow>& by);

// Returns one row with the given name. It contains the sums over all rows of those values that can be added.
GroupRow sum_of(std::span<const GroupRow* const> rows, std::string_view name);
PageOrderRow sum_of(const std::vector<PageOrderRow>& rows);

}  // namespace kmt
