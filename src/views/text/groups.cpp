// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/groups.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

using Rows = std::vector<const GroupRow*>;

// Returns a heading such as "Call sites by Allocated, 20 of 64".
std::string title_of(const GroupTable& groups, const std::vector<GroupKey>& by, const Column<GroupRow>& sort,
                     std::size_t shown, std::size_t total, const TextStyle& style) {
  std::string keys;
  for (const GroupKey key : by) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", info_of(key).name);
  const std::string part = shown < total ? fmt::format("{} of {}", say_count(shown, style), say_count(total, style))
                                         : fmt::format("all {}", say_count(total, style));
  const std::string name = capitalised(groups.allocator);
  const bool sites = by == std::vector<GroupKey>{GroupKey::call_site};
  const std::string what = !sites                                ? fmt::format("{} by {}, ordered", name, keys)
                           : groups.allocator == Allocator::slab ? "Call sites"
                                                                 : name + " call sites";
  return fmt::format("{} by {}, {}", what, sort.header, part);
}

// True if all memory of the group was allocated and freed before the window, or allocated after it.
bool is_outside_window(const GroupRow* row) { return row->window == WindowClasses{}; }

void add_key_columns(const std::vector<GroupKey>& by, const Rows& rows, const TextStyle& style, Table& table) {
  for (std::size_t key = 0; key < by.size(); ++key) {
    table.columns.push_back({std::string(info_of(by[key]).header), true});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]->keys.empty())  // a row without keys is a sum
        table.rows[i].cells.push_back(key == 0 ? rows[i]->name : "");
      else
        table.rows[i].cells.push_back((by[key] == GroupKey::stack ? fmt::format("#{} ", i + 1) : "") +
                                      key_text(by[key], rows[i]->keys[key], style));
    }
  }
}

bool has_information(const Column<GroupRow>& column, const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [&column](const GroupRow* row) {
    const Cell cell = column.get(*row);
    if (std::holds_alternative<std::monostate>(cell)) return false;
    return column.unit != Unit::count || cell != Cell{std::uint64_t{0}};
  });
}

// Returns all columns if the style is raw. Otherwise returns the sort column and those default columns that are not all
// zero.
std::vector<const Column<GroupRow>*> columns_of(const Rows& rows, const Column<GroupRow>& sort,
                                                const ReportOptions& options, const TextStyle& style) {
  if (!options.columns.empty()) return options.columns;
  std::vector<const Column<GroupRow>*> columns;
  for (const Column<GroupRow>& column : group_columns()) {
    if (column.needs_window && (rows.empty() || !rows.front()->window)) continue;
    const bool says = style.raw || &column == &sort || (column.usual && has_information(column, rows));
    if (column.key != "name" && says) columns.push_back(&column);
  }
  return columns;
}

std::string text_of(const Column<GroupRow>& column, const GroupRow& row, const TextStyle& style) {
  std::string text = cell_text(column.get(row), column.unit, style.raw);
  const bool is_live =
      column.key == "live" || column.key == "live-bytes" || column.key == "left-live" || column.key == "throughout";
  return is_live ? upper_bound(row.maybe_freed, std::move(text), style) : text;
}

void add_columns(const Rows& rows, const Column<GroupRow>& sort, const ReportOptions& options, const TextStyle& style,
                 Table& table) {
  for (const Column<GroupRow>* column : columns_of(rows, sort, options, style)) {
    const bool chosen = column == &sort || !options.columns.empty();
    table.columns.push_back({std::string(column->header), column->unit == Unit::text, chosen ? 0 : column->importance});
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(text_of(*column, *rows[i], style));
  }
}

void add_over_time(const Rows& rows, const TextStyle& style, Table& table) {
  constexpr std::size_t kCells = 20;
  table.columns.push_back({"Live over time"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> values;
    if (rows[i]->history && rows[i]->knows_bytes)
      for (const TimeSeriesPoint& point : rows[i]->history->series)
        values.push_back(static_cast<double>(point.live_bytes));
    table.rows[i].cells.push_back(values.empty() ? "" : sparkline(values, kCells, style));
  }
}

}  // namespace

std::string key_text(GroupKey key, const KeyValue& value, const TextStyle& style) {
  if (const auto* number = std::get_if<std::uint64_t>(&value))
    return key == GroupKey::size || key == GroupKey::requested_size ? say_bytes(*number, style)
                                                                    : fmt::format("{}", *number);
  if (const auto* frames = std::get_if<std::vector<CodeAddress>>(&value))
    return frames->empty() ? "no stack" : ascii(plain_text(relevant_frames(*frames).front()));
  if (const auto* range = std::get_if<LifetimeRange>(&value))
    return fmt::format("{} to {}", say_duration(range->from_ns, style), say_duration(range->to_ns, style));
  if (std::holds_alternative<std::monostate>(value)) {
    return key == GroupKey::node ? "any" : "unknown";
  }
  return ascii(plain_text(value));
}

std::string stack_lines(const std::vector<GroupKey>& by, const std::vector<const GroupRow*>& rows,
                        const TextStyle& style, std::size_t most_frames) {
  const auto stack = std::find(by.begin(), by.end(), GroupKey::stack);
  if (stack == by.end()) return {};
  const auto key = static_cast<std::size_t>(stack - by.begin());
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == nullptr) continue;
    const auto frames = relevant_frames(std::get<std::vector<CodeAddress>>(rows[i]->keys[key]));
    if (frames.empty()) continue;
    out += fmt::format("\n  #{}: {} in all, {}\n", i + 1, say_number_of(rows[i]->allocations, "allocation", style),
                       say_bytes(rows[i]->bytes_allocated, style));
    const std::size_t shown = most_frames == 0 ? frames.size() : std::min(most_frames, frames.size());
    for (const CodeAddress& frame : std::span(frames).first(shown)) out += "    " + ascii(plain_text(frame)) + "\n";
    if (shown < frames.size()) out += fmt::format("    ({} more)\n", frames.size() - shown);
  }
  return out;
}

std::string text_groups(const GroupTable& groups, const std::vector<GroupKey>& by, const ReportOptions& options,
                        const TextStyle& style) {
  const Column<GroupRow>& sort = sort_column(options, groups.rows);
  Rows rows = sorted_rows(groups.rows, sort);
  if (!style.raw) std::erase_if(rows, is_outside_window);
  const std::size_t shown = shown_rows(options, rows.size());
  const std::size_t total_rows = rows.size();
  const std::size_t more = total_rows - shown;
  const GroupRow total = sum_of(rows, "total");
  const GroupRow rest = sum_of(std::span(rows).subspan(shown), fmt::format("({} more)", say_count(more, style)));
  rows.resize(shown);
  const std::string stacks = stack_lines(by, rows, style);
  if (more > 0) rows.push_back(&rest);
  rows.push_back(&total);

  Table table;
  table.rows.resize(rows.size());
  add_key_columns(by, rows, style, table);
  add_columns(rows, sort, options, style, table);
  if (options.over_time) add_over_time(rows, style, table);
  for (std::size_t row = shown; row < rows.size(); ++row) table.rows[row].aside = true;
  return "\n" + heading(title_of(groups, by, sort, shown, total_rows, style), style) + to_text(table, style) + stacks;
}

}  // namespace kmt
