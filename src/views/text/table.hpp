// SPDX-License-Identifier: GPL-2.0-or-later
// Text tables that fit a width: names are shortened in the middle, those of lesser importance first, columns of lesser
// importance are dropped, lines are never wrapped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "views/text/style.hpp"

namespace kmt {

// What may be emphasised, where colour is allowed.
enum class Emphasis { heading, aside, good, warning, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

struct TableColumn {
  std::string header;
  bool name = false;        // aligned left, and shortened where it must be
  unsigned importance = 0;  // as in Column
  bool whole = false;       // a name that says nothing when it is shortened
};

struct TableRow {
  std::vector<std::string> cells;  // as many as there are columns; names in ASCII, see cell_text(); others may be UTF-8
  bool aside = false;              // a sum or a remark, less prominent
  std::optional<Emphasis> emphasis = {};  // else
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

// Each line indented by two blanks and ended by a newline.
std::string to_text(const Table& table, const TextStyle& style);

// A value for people, or plain for raw.
std::string cell_text(const Cell& cell, Unit unit, bool raw);

// Text of a trace as ASCII, so that its width is its length: everything else is shown as \xNN.
std::string ascii(std::string_view text);

// "kmem_cache_al…create+0x1f": the start, the end with its offset, and … for the middle.
std::string shortened(std::string_view name, std::size_t width);

// The table of result rows; the columns are those that `shown` accepts.
template <typename Row, typename Shown>
Table make_table(std::span<const Column<Row>> columns, const std::vector<const Row*>& rows, bool raw, Shown&& shown) {
  Table table;
  table.rows.resize(rows.size());
  for (const Column<Row>& column : columns) {
    if (!shown(column)) continue;
    table.columns.push_back({std::string(column.header), column.unit == Unit::text, column.importance});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(cell_text(column.get(*rows[i]), column.unit, raw));
  }
  return table;
}

}  // namespace kmt
