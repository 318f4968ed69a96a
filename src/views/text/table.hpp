// SPDX-License-Identifier: GPL-2.0-or-later
// Text tables that fit a width. Names are shortened in the middle, the least important names first. Then the least
// important columns are dropped. Lines never wrap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Emphasis is shown only if colour is allowed.
enum class Emphasis { heading, aside, good, warning, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

struct TableColumn {
  std::string header;
  bool name = false;        // a name: aligned left, may be shortened
  unsigned importance = 0;  // like Column::importance
  bool whole = false;       // must not be shortened
};

struct TableRow {
  std::vector<std::string> cells;         // one for each column; names are ASCII (cell_text()), others may be UTF-8
  bool aside = false;                     // a sum or a remark, which is shown less prominently
  std::optional<Emphasis> emphasis = {};  // used only if `aside` is false
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

// Each line has an indent of two blanks and ends with a newline.
std::string to_text(const Table& table, const TextStyle& style);

// Returns a value in readable form, or plain if `raw` is set.
std::string cell_text(const Cell& cell, Unit unit, bool raw);

// Returns text of a trace as ASCII, so that its width equals its length. Other bytes become \xNN.
std::string ascii(std::string_view text);

// Returns "kmem_cache_al…create+0x1f": cuts the middle of a name and keeps the offset.
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
