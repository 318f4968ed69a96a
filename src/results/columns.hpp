// SPDX-License-Identifier: GPL-2.0-or-later
// Every column of the tables, described once: text tables, --sort, help and documentation take it from here.
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

// Empty where the row has no such value: the waste of a call site that only failed.
using Cell = std::variant<std::monostate, std::uint64_t, double, std::string_view>;

template <typename Row>
struct Column {
  std::string_view key;     // the word for --sort; never changes its meaning
  std::string_view header;  // text is aligned left, everything else right
  Unit unit;
  unsigned importance;       // 0 is always shown; the higher, the sooner it is dropped from a narrow table
  Cell (*get)(const Row&);   // a string_view borrows from the row
  std::string_view meaning;  // one sentence
  bool usual = true;         // shown without being asked for
};

// The columns of groups beside their keys; "name" is the keys' text. Those that are not usual are shown when they are
// asked for.
std::span<const Column<GroupRow>> group_columns();
std::span<const Column<PageOrderRow>> page_order_columns();

// All rows: numbers from the largest (rows without a value last), text and addresses from the first;
// `comes_before(a, b)` orders equals. The pointers are into `rows`.
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

// The column that --sort and --columns name; null when there is none.
const Column<GroupRow>* find_group_column(std::string_view key);

// All rows: numbers from the largest (rows without a value last); by name in the order of comes_before(); among equals
// by bytes allocated, then by name. The pointers are into `rows`.
std::vector<const GroupRow*> sorted_rows(const std::vector<GroupRow>& rows, const Column<GroupRow>& by);

// One row that adds up what can be added, under the given name.
GroupRow sum_of(std::span<const GroupRow* const> rows, std::string_view name);
PageOrderRow sum_of(const std::vector<PageOrderRow>& rows);

}  // namespace kmt
