// SPDX-License-Identifier: GPL-2.0-or-later
// The columns of the tables of `pages`, with their descriptions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "results/report/pages.hpp"

namespace kmt {

std::span<const Column<PageTaskRow>> page_task_columns();
std::span<const Column<PageFallbackRow>> page_fallback_columns();
std::span<const Column<PageFailureRow>> page_failure_columns();

// Returns the column with this key, or null.
const Column<PageTaskRow>* find_page_task_column(std::string_view key);

// Returns all rows, sorted: numbers in descending order, text in alphabetical order. Equal rows are sorted by pages
// allocated, then by name. The pointers point into `rows`.
std::vector<const PageTaskRow*> sorted_page_tasks(const std::vector<PageTaskRow>& rows, const Column<PageTaskRow>& by);

// Adds the values of `row` to `sum`. Values that have no meaningful sum stay unchanged.
void add_up(PageTaskRow& sum, const PageTaskRow& row);

}  // namespace kmt
