// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/window.hpp"

#include <fmt/format.h>

#include "results/columns.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string range_text(const WindowRange& range) {
  return fmt::format("Window from {} to {}", say_seconds(range.from_ns),
                     range.to_ns == WindowRange{}.to_ns ? "the end of the trace" : say_seconds(range.to_ns));
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
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    const AllocatorTotals& totals = totals_of(result, allocator);
    if (totals.allocations == 0 || !totals.knows_bytes) continue;
    const WindowClasses& window = result.window->totals[static_cast<std::size_t>(allocator)];
    TableRow row{{capitalised(allocator)}};
    const auto add = [&](const LiveCount& part, const LiveCount& maybe_freed) {
      row.cells.push_back(upper_bound(maybe_freed, cell_text(part.bytes, Unit::bytes, style.raw), style));
    };
    add(window.live_at_start(), totals.maybe_freed);
    add(window.freed_older, {});
    add(window.left_live, totals.maybe_freed);
    add(window.live_at_end(), totals.maybe_freed);
    add(window.freed_inside, {});
    table.rows.push_back(std::move(row));
  }
  std::string out = "\n" + heading(range_text(result.window->range), style) + to_text(table, style);
  if (style.raw) return out;
  if (result.window->range.from_ns > trace.whole_first_ns + trace.whole_ns ||
      result.window->range.to_ns <= trace.whole_first_ns)
    out += hanging("", "The trace has no events in this window.", style);
  return out + hanging("",
                       "Memory from before the trace is not counted. Do not add the pages to the other rows, because "
                       "they contain them.",
                       style);
}

}  // namespace kmt
