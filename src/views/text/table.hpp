// SPDX-License-Identifier: GPL-2.0-or-later
// Text tables that fit a width. Names are shortened in the middle, the least important first; then the least important
// columns are dropped. Lines never wrap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Styles that are shown if colour is allowed.
enum class Emphasis { heading, aside, good, warning, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

struct TableColumn {
  std::string header;
  bool name = false;        // aligned left; may be shortened
  unsigned importance = 0;  // like in Column
  bool whole = false;       // useless if shortened
};

struct TableRow {
  std::vector<std::string> cells;         // one for each column; names are ASCII (cell_text()), others may be UTF-8
  bool aside = false;                     // a sum or a remark, less prominent
  std::optional<Emphasis> emphasis = {};  // used if not `aside`
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

// Each line has an indent of two blanks and ends with a newline.
std::string to_text(const Table& table, const TextStyle& style);

// A value for people, or plain if raw.
std::string cell_text(const Cell& cell, Unit unit, bool raw);

// Text of a trace as ASCII, so that its width is its length; other bytes are shown as \xNN.
std::string ascii(std::string_view text);

// "kmem_cache_al…create+0x1f": keeps the start, and the end with the offset.
std::string shortened(std::string_view name, std::size_t width);

// A table of result rows with the columns that `shown` accepts.
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
