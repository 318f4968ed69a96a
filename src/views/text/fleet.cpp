// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/fleet.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string doubt_line(const FleetSummary& of, const TextStyle& style) {
  if (of.may_lack_frees == 0) return {};
  return labelled("doubtful",
                  fmt::format("{} may lack frees (lost events, only some tasks recorded, or no frees of an allocator): "
                              "memory that looks live at the end may have been freed",
                              say_number_of(of.may_lack_frees, "trace", style)),
                  style);
}

std::string summary_lines(const FleetSummary& of, const TextStyle& style) {
  std::string out;
  if (!of.selection.empty()) out += labelled("selected", ascii(of.selection), style);
  out += labelled(
      "traces",
      fmt::format("{} of {}, {} recorded in all, started {}{}", say_number_of(of.traces, "trace", style),
                  say_number_of(of.hosts, "host", style), say_duration(of.recorded_ns, style), utc_text(of.first_began),
                  of.last_began != of.first_began ? " to " + utc_text(of.last_began) : ""),
      style);
  std::string kernels;
  for (const std::string& kernel : of.kernels)
    kernels += (kernels.empty() ? "" : ", ") + (kernel.empty() ? "unknown" : ascii(kernel));
  out += labelled("kernels", kernels, style);
  out +=
      labelled("events",
               fmt::format("{}{}{}", say_count(of.events, style),
                           of.whole_events ? "" : " in these traces (whole traces, not only the selected time)",
                           of.lost_events > 0
                               ? fmt::format("; {} were lost: counts are too small, and live memory may be too large",
                                             say_count(of.lost_events, style))
                               : ""),
               style);
  return out + doubt_line(of, style);
}

std::string names_of(const std::vector<const FleetKeyInfo*>& by) {
  std::string names;
  for (const FleetKeyInfo* key : by) names += fmt::format("{}{}", names.empty() ? "" : ", ", key->name);
  return names;
}

std::size_t shown_of(std::size_t rows, const FleetOptions& options) {
  return options.limit == 0 ? rows : std::min(options.limit, rows);
}

std::string rest_line(std::size_t rows, std::size_t shown, const TextStyle& style) {
  if (shown == rows) return {};
  return hanging("  ", fmt::format("{} more; --limit N shows them", say_number_of(rows - shown, "group", style)),
                 style);
}

// Returns "Slab by function, ordered by Allocated, 20 of 64".
std::string title_of(Allocator allocator, const std::vector<const FleetKeyInfo*>& by, std::string_view order,
                     std::size_t shown, std::size_t total, const TextStyle& style) {
  const std::string part = shown < total ? fmt::format("{} of {}", say_count(shown, style), say_count(total, style))
                                         : fmt::format("all {}", say_count(total, style));
  return fmt::format("{} by {}, ordered by {}, {}", capitalised(allocator), names_of(by), order, part);
}

// Returns a table with the keys and the shown columns of the first rows. The rows of `sums` follow at the end.
template <typename Row>
std::string rows_of(std::vector<const Row*> rows, const std::vector<Row>& sums, std::span<const Column<Row>> columns,
                    const std::vector<const FleetKeyInfo*>& by, const Column<Row>& sort, const TextStyle& style) {
  const std::size_t groups = rows.size();
  for (const Row& sum : sums) rows.push_back(&sum);
  Table values = make_table(columns, rows, style.raw, [&](const Column<Row>& column) {
    return column.key != "name" && (column.usual || &column == &sort);
  });
  Table table;
  for (const FleetKeyInfo* key : by) table.columns.push_back({std::string(key->header), true});
  table.columns.insert(table.columns.end(), values.columns.begin(), values.columns.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TableRow line;
    line.aside = i >= groups;
    for (std::size_t key = 0; key < by.size(); ++key) {
      const std::string& text = line.aside ? rows[i]->name : rows[i]->keys[key];
      line.cells.push_back(line.aside && key > 0 ? "" : text.empty() ? "-" : ascii(text));
    }
    std::ranges::move(values.rows[i].cells, std::back_inserter(line.cells));
    table.rows.push_back(std::move(line));
  }
  return to_text(table, style);
}

std::string value_text(std::optional<double> value, Unit unit, const TextStyle& style) {
  if (!value) return "-";
  if (unit == Unit::percent || unit == Unit::count || *value >= 0x1p63) return cell_text(*value, unit, style.raw);
  return cell_text(static_cast<std::uint64_t>(std::llround(*value)), unit, style.raw);
}

std::string change_text(const Change& change, const DiffRow& row, Unit unit) {
  if (change.verdict == Verdict::unchanged) return "=";
  if (row.in_a != row.in_b) return row.in_a ? "gone" : "new";
  if (!change.difference) return "-";
  if (unit == Unit::percent) return fmt::format("{:+.1f} pt", *change.difference);
  return change.percent ? fmt::format("{:+.1f}%", *change.percent) : "-";
}

std::string changes(const DiffTable& of, const FleetDiff& diff, const FleetOptions& options, const TextStyle& style) {
  const Column<GroupRow>& sort = *options.sort_diff;
  if (!of.knows_a || !of.knows_b)
    return "\n" + heading(capitalised(of.allocator), style) + no_allocations_line(of.knows_a ? "B" : "A", style);
  const DiffOrder order = ordered_rows(of, sort, diff.basis, options.noise);
  const std::size_t shown = shown_of(order.changed.size(), options);
  Table table;
  for (const FleetKeyInfo* key : diff.by) table.columns.push_back({std::string(key->header), true});
  for (const char* const header : {"A", "B", "%"}) table.columns.push_back({header});
  for (std::size_t i = 0; i < shown; ++i) {
    const DiffRow& row = *order.changed[i];
    const Change change = change_of(row, sort, diff.basis, options.noise);
    TableRow line;
    for (const KeyValue& key : row.keys) {
      const std::string text = plain_text(key);
      line.cells.push_back(text.empty() ? "-" : ascii(text));
    }
    line.cells.push_back(value_text(change.a, sort.unit, style));
    line.cells.push_back(value_text(change.b, sort.unit, style));
    line.cells.push_back(change_text(change, row, sort.unit));
    table.rows.push_back(std::move(line));
  }
  const bool divided = grows_with_time(sort) && diff.basis.per == DiffPer::second;
  std::string out =
      "\n" + heading(fmt::format("{} by {}: change of {}{}, {} changed of {}", capitalised(of.allocator),
                                 names_of(diff.by), sort.header, divided ? " per second" : "",
                                 say_count(order.changed.size(), style), say_count(of.rows.size(), style)),
                     style);
  if (!table.rows.empty()) out += to_text(table, style);
  return out + rest_line(order.changed.size(), shown, style);
}

}  // namespace

std::string text_fleet(const FleetReport& report, const FleetOptions& options, const TextStyle& style) {
  std::string out = heading("Allocations of a fleet", style) + summary_lines(report.of, style);
  for (const FleetReport::Table& table : report.tables) {
    std::vector<const FleetRow*> rows = sorted_by_column(table.rows, *options.sort_report, FleetOrder());
    const std::size_t shown = shown_of(rows.size(), options);
    const std::size_t more = rows.size() - shown;
    std::vector<FleetRow> sums;
    if (more > 0)
      sums.push_back(sum_of(std::span(rows).subspan(shown), fmt::format("({} more)", say_count(more, style))));
    sums.push_back(sum_of(rows, "total"));
    out += "\n" +
           heading(title_of(table.allocator, report.by, options.sort_report->header, shown, rows.size(), style), style);
    rows.resize(shown);
    out += rows_of(std::move(rows), sums, fleet_columns(), report.by, *options.sort_report, style);
  }
  if (report.tables.empty()) out += hanging("  ", "Nothing was allocated in these traces.", style);
  return out;
}

std::string text_fleet(const FleetLeaks& leaks, const FleetOptions& options, const TextStyle& style) {
  std::string out = heading("Growth in a fleet", style) + summary_lines(leaks.of, style);
  for (const FleetLeaks::Table& table : leaks.tables) {
    std::vector<const FleetLeakRow*> rows = sorted_by_column(table.rows, *options.sort_leaks, FleetOrder());
    const std::size_t total = rows.size();
    const std::size_t shown = shown_of(total, options);
    out += "\n" + heading(title_of(table.allocator, leaks.by, options.sort_leaks->header, shown, total, style), style);
    rows.resize(shown);
    out += rows_of(std::move(rows), {}, fleet_leak_columns(), leaks.by, *options.sort_leaks, style);
    out += rest_line(total, shown, style);
  }
  return out + "\n" +
         hanging(
             "  ",
             "Growth is the slope of live bytes in each trace, averaged and weighted by trace length. It excludes "
             "traces "
             "shorter than a second and memory freed before the end. \"Sure\" counts unreclaimable memory from call "
             "sites "
             "whose frees are traced. `kmemtrace leaks TRACE` shows whether the growth in a trace is more than chance, "
             "and what lost events may hide.",
             style);
}

std::string text_fleet(const FleetDiff& diff, const FleetOptions& options, const TextStyle& style) {
  std::string out = heading("A", style) + summary_lines(diff.a, style) + "\n" + heading("B", style) +
                    summary_lines(diff.b, style) + "\n";
  out += hanging("  ",
                 fmt::format("no change: less than {:g}%, less than {} counts, or (counts only) less than {:g} "
                             "standard deviations; live memory is not divided by time",
                             options.noise.percent, options.noise.least_count, Noise::kDeviations),
                 style);
  for (const DiffTable& table : diff.tables) out += changes(table, diff, options, style);
  return out;
}

std::string text_fleet(const FleetTraces& traces, const FleetOptions& options, const TextStyle& style) {
  std::string out = heading("Traces of a fleet", style) + summary_lines(traces.of, style) + "\n";
  Table table{{{"Began", true, 0, true},
               {"Host", true},
               {"Kernel", true, 1},
               {"Level", true, 3, true},
               {"Lasts"},
               {"Events"},
               {"Lost", false, 2},
               {"File", true, 4},
               {"Trace", true, 5}},
              {}};
  const std::size_t shown = shown_of(traces.rows.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const FleetTraceRow& row = traces.rows[i];
    table.rows.push_back({{utc_text(row.began), ascii(row.host), ascii(row.kernel), ascii(row.level),
                           say_duration(row.recorded_ns, style), say_count(row.events, style),
                           say_count(row.lost_events, style), ascii(row.path), ascii(row.trace)}});
  }
  out += to_text(table, style);
  if (shown < traces.rows.size())
    out += hanging("  ", fmt::format("{} more; --limit N shows them", traces.rows.size() - shown), style);
  return out;
}

std::string text_fleet(const FleetAccount& account, const FleetOptions& options, const TextStyle& style) {
  std::string out = heading("Growing kernel memory of a fleet", style);
  if (!account.selection.empty()) out += labelled("selected", printable(account.selection), style);
  Table table{{{"What", true, 2},
               {"Name", true},
               {"Growth"},
               {"Growing hosts"},
               {"Hosts", false, 3},
               {"Since kernel", true},
               {"Not on kernel", true, 1},
               {"Growing on", true, 4}},
              {}};
  std::size_t growing = 0;
  for (const AccountRow& row : account.rows) {
    if (row.growing_hosts() == 0) continue;
    if (++growing > shown_of(account.rows.size(), options)) continue;
    const AccountOnKernel* const since = row.since();
    const AccountOnKernel* const before = row.before();
    table.rows.push_back(
        {{row.part, ascii(row.name), say_growth(row.bytes_per_s()), say_count(row.growing_hosts(), style),
          say_count(account.hosts, style), since == nullptr ? "not on the newest" : ascii(since->kernel),
          before == nullptr ? "" : ascii(before->kernel),
          ascii(fmt::format("{}", fmt::join(row.growing_host_names(), " ")))}});
  }
  if (growing == 0) return out + hanging("  ", "No confirmed growth.", style);
  out += to_text(table, style);
  if (growing > table.rows.size())
    out += hanging("  ", fmt::format("{} more; --limit N shows them", growing - table.rows.size()), style);
  return out;
}

}  // namespace kmt
