// SPDX-License-Identifier: GPL-2.0-or-later
// Finds a column by the name that the user gives in an option.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/support/suggest.hpp"
#include "results/columns.hpp"

namespace kmt {

template <typename Row>
std::vector<const Column<Row>*> pointers_to(std::span<const Column<Row>> columns) {
  std::vector<const Column<Row>*> pointers;
  for (const Column<Row>& column : columns) pointers.push_back(&column);
  return pointers;
}

// Returns a line "  key  meaning" for each column, for the help of options.
template <typename Row>
std::string list_of(const std::vector<const Column<Row>*>& columns) {
  std::size_t width = 0;
  for (const auto* column : columns) width = std::max(width, column->key.size());
  std::string text;
  for (const auto* column : columns) text += fmt::format("\n  {:<{}} {}", column->key, width, column->meaning);
  return text;
}

// Returns the column with this name. Throws Error if there is no such column. The hint of the error has the most
// similar name.
template <typename Row>
const Column<Row>& column_named(const std::vector<const Column<Row>*>& columns, std::string_view key,
                                std::string_view missing = "Unknown column") {
  std::vector<std::string> keys;
  for (const auto* column : columns) {
    if (column->key == key) return *column;
    keys.emplace_back(column->key);
  }
  throw unknown_name(missing, key, keys);
}

}  // namespace kmt
