// SPDX-License-Identifier: GPL-2.0-or-later
// The columns of the tables of `pages`, each described once.
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

// Null when there is none.
const Column<PageTaskRow>* find_page_task_column(std::string_view key);

// All rows: numbers from the largest, text in alphabetical order; among equals by pages allocated, then by name. The
// pointers are into `rows`.
std::vector<const PageTaskRow*> sorted_page_tasks(const std::vector<PageTaskRow>& rows, const Column<PageTaskRow>& by);

// Adds all that can be added.
void add_up(PageTaskRow& sum, const PageTaskRow& row);

}  // namespace kmt
