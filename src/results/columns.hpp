// SPDX-License-Identifier: GPL-2.0-or-later
// Every column of the tables, described once: text tables, --sort, help and documentation take it from here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "results/report.hpp"

namespace kmt {

enum class Unit : std::uint8_t { text, address, count, bytes, percent, order };

// Empty where the row has no such value: the waste of a call site that only failed.
using Cell = std::variant<std::monostate, std::uint64_t, double, std::string_view>;

template <typename Row>
struct Column {
  std::string_view key;     // what --sort takes; never changes its meaning
  std::string_view header;  // text is aligned left, everything else right
  Unit unit;
  unsigned importance;       // 0 is always shown; the higher, the sooner it is dropped from a narrow table
  Cell (*get)(const Row&);   // a string_view borrows from the row
  std::string_view meaning;  // one sentence
};

std::span<const Column<CallSiteRow>> call_site_columns();
// A percpu allocation has no waste to tell of: it is asked for in bytes for one CPU, and given to each.
std::span<const Column<CallSiteRow>> percpu_call_site_columns();
std::span<const Column<PageOrderRow>> page_order_columns();

// The column that --sort names; null when there is none.
const Column<CallSiteRow>* find_call_site_column(std::string_view key);
const Column<CallSiteRow>* find_column(std::span<const Column<CallSiteRow>> columns, std::string_view key);

// All rows: numbers from the largest (rows without a value last), text in alphabetical order; among equals by bytes
// allocated, then by address. The pointers are into `rows`.
std::vector<const CallSiteRow*> sorted_call_sites(const std::vector<CallSiteRow>& rows, const Column<CallSiteRow>& by);

// One row that adds up what can be added, under the given name.
CallSiteRow sum_of(std::span<const CallSiteRow* const> rows, std::string_view symbol);
PageOrderRow sum_of(const std::vector<PageOrderRow>& rows);

}  // namespace kmt
