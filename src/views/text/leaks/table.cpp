// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks/table.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

constexpr std::size_t kSparkline = 12;  // width in columns

std::string title_of(const LeakTable& table, const LeaksOptions& options, std::size_t shown, const TextStyle& style) {
  const std::string name = capitalised(table.allocator);
  if (table.whole) return name + ", live at the end";
  const std::size_t total = table.rows.size();
  const std::string part = shown < total ? fmt::format("{} of {}", say_count(shown, style), say_count(total, style))
                                         : fmt::format("all {}", say_count(total, style));
  return fmt::format("{}, live at the end, by {}, {}", name, options.sort->header, part);
}

std::string over_time(const LeakRow& row, const TextStyle& style) {
  std::vector<double> values;
  for (const TimeSeriesPoint& point : row.group.history->series)
    values.push_back(static_cast<double>(point.live_bytes));
  return sparkline(values, kSparkline, style);
}

// Returns a sparkline of object counts by age. The youngest objects are on the left, and objects as old as the
// recording are on the right. Each bar stands for ages four times as high as the bar to its left.
std::string ages(const LeakRow& row, const TimeAxis& axis, const TextStyle& style) {
  constexpr std::size_t kBars = 10;
  const std::uint64_t longest = std::max<std::uint64_t>(axis.end_ns - axis.start_ns, 1);
  std::vector<double> counts(kBars);
  for (const Lifetimes::Bucket& bucket : row.group.history->ages.buckets()) {
    const std::uint64_t times_younger = longest / std::max<std::uint64_t>(bucket.from_ns, 1);
    // the rightmost bar has number 1 and is for objects at least a quarter as old as the recording
    const std::size_t from_right = static_cast<std::size_t>(std::bit_width(times_younger) + 1) / 2;
    counts[kBars - std::clamp<std::size_t>(from_right, 1, kBars)] += static_cast<double>(bucket.count);
  }
  return sparkline(counts, kBars, style);
}

bool is_shown(const Column<LeakRow>& column, const LeakRows& rows, const LeaksOptions& options, const TextStyle& style,
              bool has_clock) {
  if (column.key == "name") return false;
  if (column.unit == Unit::duration && !has_clock) return false;
  if (style.raw || &column == options.sort) return true;
  if (column.key == "uncertain" || column.key == "reason" || column.key == "certain-growth")
    return std::any_of(rows.begin(), rows.end(), [](const LeakRow* row) { return row->doubtful.allocations > 0; });
  return column.importance < 10;
}

Table table_of(const LeakTable& leaks, const LeakRows& rows, const std::vector<GroupKey>& by,
               const LeaksOptions& options, const TextStyle& style, bool has_clock, const TimeAxis& axis) {
  Table table;
  table.rows.resize(rows.size());
  if (leaks.whole) {
    table.columns.push_back({"Of", true});
    for (TableRow& row : table.rows) row.cells.push_back("all");
  }
  for (std::size_t key = 0; key < by.size(); ++key) {
    if (!applies(by[key], leaks.allocator)) continue;
    if (frames_follow(by, by[key])) {
      table.columns.insert(table.columns.begin(), {"#"});
      for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].cells.insert(table.rows[i].cells.begin(), fmt::format("{}", i + 1));
      continue;
    }
    table.columns.push_back({std::string(info_of(by[key]).header), true});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(key_text(by[key], rows[i]->group.keys[key], style));
  }
  for (const Column<LeakRow>& column : leak_columns()) {
    if (!is_shown(column, rows, options, style, has_clock)) continue;
    table.columns.push_back({std::string(column.header), false, &column == options.sort ? 0 : column.importance});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(cell_text(column.get(*rows[i]), column.unit, style.raw));
  }
  if (!names_processes(by)) {
    table.columns.push_back({"Process", true, 2});
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(leak_processes(*rows[i], style));
  }
  table.columns.push_back({"Over time", false, 3});
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(over_time(*rows[i], style));
  table.columns.push_back({"Ages", false, 5});
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(ages(*rows[i], axis, style));
  return table;
}

}  // namespace

std::string leak_table(const LeakTable& leaks, const LeaksResult& result, const LeaksOptions& options,
                       const LeaksExtent& extent, const TextStyle& style) {
  const LeakRows rows = shown_leaks(leaks, result, options, extent);
  if (rows.empty()) return {};
  std::string out =
      "\n" + heading(title_of(leaks, options, rows.size(), style), style) +
      to_text(table_of(leaks, rows, result.by, options, style, result.trace.clock_in_ns, result.axis), style);
  if (leaks.allocator == Allocator::pages) out += hanging("  ", "This includes slab pages and user memory.", style);
  if (leaks.older_frees > 0) {
    const std::string of =
        leaks.allocator == Allocator::slab && result.older_lived
            ? fmt::format(" (at most {} were live when the trace started)", say_count(*result.older_lived, style))
            : "";
    out += hanging(
        "  ",
        fmt::format("The trace also has {} of older objects{}. Memory that outlives the trace looks like growth.",
                    say_number_of(leaks.older_frees, "free", style), of),
        style);
  }
  const LeakRows with_stack = leaks_with_stacks(result, options, extent);
  std::vector<const GroupRow*> groups;
  for (const LeakRow* row : rows)
    groups.push_back(std::ranges::find(with_stack, row) == with_stack.end() ? nullptr : &row->group);
  return out + stack_lines(result.by, groups, style, extent.frames);
}

}  // namespace kmt
