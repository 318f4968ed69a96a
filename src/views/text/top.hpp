// SPDX-License-Identifier: GPL-2.0-or-later
// One frame of `top` as lines: for a screen, which gives each kind of line its look, and for a pipe.
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
  std::string filter;                      // only rows whose names have it
  std::size_t first = 0;                   // row that is shown first
  std::size_t rows = 0;                    // that are shown; 0: all
  std::size_t selected = ~std::size_t{0};  // among all rows that the filter lets through
  bool paused = false;
};

enum class TopLineKind { plain, heading, selected, aside };

struct TopLine {
  std::string text;
  TopLineKind kind = TopLineKind::plain;
};

// The rows that the filter lets through, sorted.
std::vector<TopRow> rows_shown(const TopResult& result, const TopOptions& options);
// What rows of a view are sorted by: stacks, which are known of samples only, by nothing of the last interval.
TopColumn sorted_by(TopView view, TopColumn column);

// What the whole machine does, and what it costs to know: four lines.
std::vector<TopLine> top_heading(const TopResult& result, const TopOptions& options, const TextStyle& style);
// The table, with its header: rows as rows_shown() gives them.
std::vector<TopLine> top_table(const TopResult& result, const std::vector<TopRow>& rows, const TopOptions& options,
                               const TextStyle& style);
// The stacks of one row, each with what it allocated.
std::vector<TopLine> top_stacks(const std::string& name, const std::vector<TopRow>& stacks, const SymbolNames& symbols,
                                const TextStyle& style);

// Heading, table and, of stacks, their frames, as plain text.
std::string text_top(const TopResult& result, const SymbolNames& symbols, const TopOptions& options,
                     const TextStyle& style);

}  // namespace kmt
