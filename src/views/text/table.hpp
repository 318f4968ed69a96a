// SPDX-License-Identifier: GPL-2.0-or-later
// Writes text tables that fit into a given width. If a table is too wide, names are first shortened in the middle,
// starting with the least important names. Then the least important columns are dropped. Lines never wrap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Emphasis is visible only if the style allows colour.
enum class Emphasis { heading, aside, good, warning, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

struct TableColumn {
  std::string header;
  bool name = false;        // true: the column has names, which are aligned left and may be shortened
  unsigned importance = 0;  // like Column::importance
  bool whole = false;       // true: names must not be shortened
};

struct TableRow {
  // one cell for each column; names are ASCII (cell_text()), and other cells may be UTF-8
  std::vector<std::string> cells;
  bool aside = false;                     // true: the row is a sum or a remark and is shown less prominently
  std::optional<Emphasis> emphasis = {};  // has no effect if `aside` is true
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

// Returns the lines of the table. Each line is indented by two blanks and ends with a newline.
std::string to_text(const Table& table, const TextStyle& style);

// Returns a value in readable form, or as a plain number if `raw` is set.
std::string cell_text(const Cell& cell, Unit unit, bool raw);

// Returns text from a trace as ASCII, so that its width equals its length. Other bytes become \xNN.
std::string ascii(std::string_view text);

// Cuts the middle of a name and keeps the offset: "kmem_cache_al…create+0x1f".
std::string shortened(std::string_view name, std::size_t width);

// Returns a table of result rows with the columns that `shown` accepts.
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
