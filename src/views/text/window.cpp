// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/window.hpp"

#include <fmt/format.h>

#include "results/columns.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string range_text(const TimeRange& range, const TraceSummary& trace) {
  const std::uint64_t end_ns = trace.whole_first_ns + trace.whole_ns;
  return fmt::format("Window from {} to {}", say_seconds(range.from_ns),
                     range.to_ns > end_ns ? "the end of the trace" : say_seconds(range.to_ns));
}

}  // namespace

std::string window_lines(const ReportResult& result, const TextStyle& style) {
  if (!result.window) return {};
  const TraceSummary& trace = result.trace;
  Table table{{{"Allocator", true},
               {"Live at start"},
               {"- older freed"},
               {"+ left live"},
               {"= live at end"},
               {"Freed inside", false, 1}},
              {}};
  for (const GroupTable& groups : result.groups) {
    const GroupRow sum = sum_of(groups, capitalised(groups.allocator));
    if (!sum.window || !sum.knows_bytes) continue;
    const WindowClasses& window = *sum.window;
    TableRow row{{sum.name}};
    for (const LiveCount& part :
         {window.live_at_start(), window.freed_older, window.left_live, window.live_at_end(), window.freed_inside})
      row.cells.push_back(cell_text(part.bytes, Unit::bytes, style.raw));
    table.rows.push_back(std::move(row));
  }
  std::string out = "\n" + heading(range_text(*result.window, trace), style) + to_text(table, style);
  if (style.raw) return out;
  if (result.window->from_ns > trace.whole_first_ns + trace.whole_ns || result.window->to_ns <= trace.whole_first_ns)
    out += hanging("", "The trace has no events in this window.", style);
  return out + hanging("", "Memory from before the trace is not counted.", style);
}

}  // namespace kmt
