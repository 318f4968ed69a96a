// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/heap/stat.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "results/heap/top.hpp"
#include "views/text/heap/cache_counts.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

double seconds_of(const StatResult& result) {
  return static_cast<double>(std::max<std::uint64_t>(result.end_ns - result.start_ns, 1)) / 1e9;
}

Cell if_known(bool known, std::uint64_t number) { return known ? Cell(number) : Cell(); }

Table table_of(const StatResult& result, const TextStyle& style) {
  const bool some_missed = std::ranges::any_of(result.rows, [](const StatRow& row) { return row.missed > 0; });
  Table table{{{"Event", true},
               {"Events"},
               {"Events/s", false, 1},
               {"Failed", false, 4},
               {"Requested", false, 3},
               {"Allocated", false, 2},
               {"Allocated/s", false, 5}},
              {}};
  if (some_missed) table.columns.push_back({"Missed", false, 0});
  for (const StatRow& row : result.rows) {
    if (row.events + row.missed == 0 && !style.raw) continue;
    const double seconds = seconds_of(result);
    const auto per_second = [&](std::uint64_t sum) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(sum) / seconds));
    };
    const auto text = [&](const Cell& cell, Unit unit) { return cell_text(cell, unit, style.raw); };
    TableRow line;
    line.cells = {ascii(row.event),
                  text(row.events, Unit::count),
                  text(per_second(row.events), Unit::count),
                  text(if_known(row.may_fail, row.failed), Unit::count),
                  text(if_known(row.has_bytes, row.requested), Unit::bytes),
                  text(if_known(row.has_bytes, row.allocated), Unit::bytes),
                  text(if_known(row.has_bytes, per_second(row.allocated)), Unit::bytes)};
    if (some_missed) line.cells.push_back(text(row.missed, Unit::count));
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string notes(const StatResult& result, const TextStyle& style) {
  std::string out;
  if (std::ranges::any_of(result.rows, [](const StatRow& row) { return row.missed > 0; }))
    out += hanging("  ",
                   "Missed events occurred while the same event was being counted on their CPU. They may be from any "
                   "process, are not included in the counts, and their bytes are unknown.",
                   style);
  if (result.lost > 0)
    out += hanging("  ",
                   fmt::format("{} lost: they are in no count, because {}.", say_number_of(result.lost, "event", style),
                               result.backend == "hist" ? "a table of the kernel was full"
                                                        : "they came faster than they were read"),
                   style);
  if (result.not_followed > 0)
    out += hanging("  ",
                   fmt::format("{} not followed: their children and their allocations are not counted.",
                               say_number_of(result.not_followed, "forked process", style)),
                   style);
  return out;
}

std::string closing(const StatResult& result, const TextStyle& style) {
  std::string out = "\n";
  if (!result.missing.empty())
    out += labelled("missing", fmt::format("this kernel has no events {}", fmt::join(result.missing, ", ")), style);
  out += missing_caches_line(result.caches, style);
  if (result.memory)
    out += labelled("cost", fmt::format("{} of kernel memory for counters", say_bytes(*result.memory, style)), style);
  return out;
}

}  // namespace

std::string text_stat(const StatResult& result, const TextStyle& style) {
  const std::string of = result.selection.empty() ? "the whole machine" : printable(result.selection);
  const std::string when = result.whole
                               ? fmt::format("{}", say_duration(result.end_ns - result.start_ns, style))
                               : fmt::format("{:.3f} s to {:.3f} s", static_cast<double>(result.start_ns) / 1e9,
                                             static_cast<double>(result.end_ns) / 1e9);
  std::string out =
      heading(fmt::format("Kernel memory events of {}, {}, {}", of, when, backend_text(result.backend)), style);
  const Table table = table_of(result, style);
  out += table.rows.empty() ? "  No events occurred.\n" : to_text(table, style);
  out += notes(result, style);
  if (const std::string caches = cache_counts_text(result.caches, style); !caches.empty()) out += "\n" + caches;
  out += memory_lines(result.state, style);
  return out + (result.whole ? closing(result, style) : "\n");
}

}  // namespace kmt
