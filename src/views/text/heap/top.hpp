// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one frame of `top` as lines. On a screen, a line is styled according to its kind. Other output prints the
// lines unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/heap/top.hpp"
#include "trace/code/symbol_names.hpp"
#include "views/text/style.hpp"

namespace kmt {

struct TopOptions {
  TopColumn sort = TopColumn::bytes_now;
  std::string filter;                      // shows only the rows whose names contain this text
  std::size_t first = 0;                   // index of the first row to show
  std::size_t rows = 0;                    // number of rows to show; 0: all
  std::size_t selected = ~std::size_t{0};  // index of the selected row among the rows that match the filter
  bool paused = false;
  bool reversed = false;  // true: smallest values first
};

enum class TopLineKind { plain, heading, selected, aside };

struct TopLine {
  std::string text;
  TopLineKind kind = TopLineKind::plain;
};

// Returns the sorted rows that match the filter.
std::vector<TopRow> rows_shown(const TopResult& result, const TopOptions& options);
// Returns the column by which the view is really sorted. Stacks come only from samples and have no values for the last
// interval. So if the user chose a column for the last interval, the view of stacks is sorted by allocated bytes.
TopColumn sorted_by(TopView view, TopColumn column);

// Returns four lines about the traced machine and the cost of tracing.
std::vector<TopLine> top_heading(const TopResult& result, const TopOptions& options, const TextStyle& style);
// Returns the table with its header. `rows` is the result of rows_shown().
std::vector<TopLine> top_table(const TopResult& result, const std::vector<TopRow>& rows, const TopOptions& options,
                               const TextStyle& style);
// Returns the lines that explain the keys and the columns.
std::vector<TopLine> top_keys();
// Returns the stacks of one row, each with the bytes that it allocated.
std::vector<TopLine> top_stacks(const std::string& name, const std::vector<TopRow>& stacks, const SymbolNames& symbols,
                                const TextStyle& style);

// Returns the heading, the table and the frames of stacks as plain text.
std::string text_top(const TopResult& result, const SymbolNames& symbols, const TopOptions& options,
                     const TextStyle& style);

}  // namespace kmt
