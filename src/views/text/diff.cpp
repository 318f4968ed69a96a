// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

using GroupColumn = Column<GroupRow>;

// The default columns in tables of groups and in the table of totals.
constexpr std::array kUsualColumns = {"hits",     "requested",  "allocated", "wasted",   "waste", "mean-life",
                                      "p99-life", "live-bytes", "peak",      "pingpong", "failed"};

std::string unit_of(const DiffBasis& basis) {
  if (basis.per == DiffPer::second) return " per second";
  return basis.per == DiffPer::event ? " per " + ascii(basis.event) : "";
}

std::string value_text(std::optional<double> value, Unit unit, const TextStyle& style) {
  if (!value) return "-";
  const bool whole = *value == std::floor(*value) || (!style.raw && unit != Unit::count);
  if (unit == Unit::percent || !whole || *value >= 0x1p63) return cell_text(*value, unit, style.raw);
  return cell_text(static_cast<std::uint64_t>(std::llround(*value)), unit, style.raw);
}

std::string difference_text(const Change& change, Unit unit, const TextStyle& style) {
  if (!change.difference) return "-";
  const double difference = *change.difference;
  const char* const sign = difference > 0 ? "+" : difference < 0 ? "-" : "";
  const std::string size = value_text(std::abs(difference), unit, style);
  return size == value_text(0, unit, style) ? size : sign + size;  // avoids "-0"
}

// Returns a change as text, in percent. For a column in percent, the change is shown in percentage points, because a
// percentage of a percentage is misleading.
std::string relative_text(const Change& change, Unit unit, bool is_sum) {
  if (!change.difference) return "-";
  if (unit == Unit::percent) return fmt::format("{:+.1f} pt", *change.difference);
  if (*change.difference == 0) return "0%";
  if (!change.percent) return is_sum ? "-" : "new";
  if (*change.b == 0 && !is_sum) return "gone";
  return *change.percent >= 1000 ? fmt::format("x{:.0f}", 1 + *change.percent / 100)
                                 : fmt::format("{:+.1f}%", *change.percent);
}

std::optional<Emphasis> emphasis_of(const Change& change, const GroupColumn& column) {
  if (change.verdict != Verdict::changed || !less_is_better(column)) return std::nullopt;
  return *change.difference < 0 ? Emphasis::good : Emphasis::bad;
}

std::string traces(const DiffResult& result, const TextStyle& style) {
  Table table{{{"", true}, {"A", true}, {"B", true}}, {}};
  const auto add = [&](const char* what, auto&& text) {
    table.rows.push_back({{what, ascii(text(result.a)), ascii(text(result.b))}});
  };
  using Trace = TraceSummary;
  add("file", [](const Trace& trace) { return trace.path; });
  add("kernel", [](const Trace& trace) { return trace.kernel.empty() ? "unknown" : trace.kernel; });
  add("machine", [&](const Trace& trace) {
    return fmt::format("{}, {}-bit {}-endian, {}", trace.arch.empty() ? "unknown" : trace.arch, trace.word_bits,
                       trace.byte_order == ByteOrder::big ? "big" : "little", say_number_of(trace.cpus, "CPU", style));
  });
  add("pages of", [&](const Trace& trace) { return say_bytes(trace.page_size, style); });
  add("clock", [](const Trace& trace) { return trace.clock; });
  add("lasts", [&](const Trace& trace) {
    return trace.clock_in_ns ? say_duration(trace.recorded_ns, style) : say_count(trace.recorded_ns, style) + " ticks";
  });
  add("events", [&](const Trace& trace) { return say_count(trace.events, style); });
  add("lost", [&](const Trace& trace) {
    return trace.lost_events > 0 ? say_number_of(trace.lost_events, "event", style)
           : trace.loss_known    ? "nothing"
                                 : "unknown, because the trace is damaged or cut off";
  });
  return to_text(table, style);
}

std::string missing_cpus(const DiffResult& result, const TextStyle& style) {
  std::string out;
  for (const auto& [name, trace] : {std::pair("A", &result.a), std::pair("B", &result.b)})
    if (const std::string missing = missing_cpus_text(*trace); !missing.empty())
      out += emphasised(hanging("  ", fmt::format("{}: {}", name, missing), style), Emphasis::bad, style);
  return out;
}

std::string warnings(const DiffResult& result, const TextStyle& style) {
  std::string out;
  const auto warn = [&](const std::string& text, Emphasis emphasis) {
    out += emphasised(hanging("  ", text, style), emphasis, style);
  };
  for (const auto& [name, trace] : {std::pair("A", &result.a), std::pair("B", &result.b)}) {
    if (!trace->complete)
      warn(fmt::format("INCOMPLETE: reading {} was interrupted, and the rest of this trace is not compared", name),
           Emphasis::bad);
    if (trace->lost_events > 0 || !trace->loss_known)
      warn(fmt::format("{} lost events: its counts and bytes are too small, and live memory at its end may be too "
                       "large; lifetimes cover only complete pairs",
                       name),
           Emphasis::warning);
  }
  return out;
}

std::string basis_text(const DiffResult& result, const DiffOptions& options, const TextStyle& style) {
  const DiffBasis& basis = result.basis;
  std::string text = "compared as counted: " + basis.why;
  if (basis.per == DiffPer::second)
    text = fmt::format("compared per second of each trace, {:.3f} s of A and {:.3f} s of B: {}", basis.a, basis.b,
                       basis.why);
  if (basis.per == DiffPer::event)
    text = fmt::format("compared per {}: {} in A, {} in B", ascii(basis.event), value_text(basis.a, Unit::count, style),
                       value_text(basis.b, Unit::count, style));
  return hanging("  ", text + "; live memory and peaks are not divided", style) +
         hanging("  ",
                 fmt::format("no change: less than {:g}%, less than {} counts, or (counts and means) less than {:g} "
                             "standard deviations",
                             options.noise.percent, options.noise.least_count, Noise::kDeviations),
                 style);
}

std::string total_lines(const DiffTotal& total, const DiffResult& result, const DiffOptions& options,
                        const TextStyle& style) {
  std::string out = "\n" + heading(capitalised(total.allocator) + unit_of(result.basis), style);
  if (!total.row.a || !total.row.b) return out + no_allocations_line(total.row.a ? "B" : "A", style);
  Table table{{{"", true}, {"A"}, {"B"}, {"Change"}, {"%"}}, {}};
  for (const char* const key : kUsualColumns) {
    const GroupColumn& column = *find_group_column(key);
    const Change change = change_of(total.row, column, result.basis, options.noise);
    const bool nothing = change.a.value_or(0) == 0 && change.b.value_or(0) == 0;
    if (nothing && !style.raw) continue;
    table.rows.push_back({{std::string(column.header), value_text(change.a, column.unit, style),
                           value_text(change.b, column.unit, style), difference_text(change, column.unit, style),
                           change.verdict == Verdict::unchanged ? "=" : relative_text(change, column.unit, true)},
                          false,
                          emphasis_of(change, column)});
  }
  return out + to_text(table, style);
}

// Returns the columns to show in addition to the sort column: all columns in which any group changed.
std::vector<const GroupColumn*> other_columns(const std::vector<const DiffRow*>& rows, const DiffResult& result,
                                              const DiffOptions& options, const TextStyle& style) {
  if (!options.columns.empty()) return options.columns;
  std::vector<const GroupColumn*> columns;
  for (const char* const key : kUsualColumns) {
    const GroupColumn* const column = find_group_column(key);
    const auto changed = [&](const DiffRow* row) {
      return change_of(*row, *column, result.basis, options.noise).verdict == Verdict::changed;
    };
    if (column != options.sort && (style.raw || std::any_of(rows.begin(), rows.end(), changed)))
      columns.push_back(column);
  }
  return columns;
}

void add_row(const DiffRow& row, const std::vector<const GroupColumn*>& others, const DiffResult& result,
             const DiffOptions& options, const TextStyle& style, Table& table) {
  const bool is_sum = row.keys.empty();
  const Unit unit = options.sort->unit;
  const Change change = change_of(row, *options.sort, result.basis, options.noise);
  TableRow line;
  for (std::size_t key = 0; key < result.by.size(); ++key)
    line.cells.push_back(!is_sum ? key_text(result.by[key], row.keys[key], style) : key == 0 ? row.name : "");
  line.cells.push_back(row.in_a || is_sum ? value_text(change.a, unit, style) : "-");
  line.cells.push_back(row.in_b || is_sum ? value_text(change.b, unit, style) : "-");
  line.cells.push_back(difference_text(change, unit, style));
  const bool one_sided = !is_sum && row.in_a != row.in_b && change.difference;
  line.cells.push_back(one_sided ? row.in_a ? "gone" : "new" : relative_text(change, unit, is_sum));
  for (const GroupColumn* column : others) {
    const Change other = change_of(row, *column, result.basis, options.noise);
    line.cells.push_back(other.verdict == Verdict::unchanged ? "=" : relative_text(other, column->unit, is_sum));
  }
  line.aside = is_sum;
  line.emphasis = emphasis_of(change, *options.sort);
  table.rows.push_back(std::move(line));
}

std::string title_of(const DiffTable& table, const DiffResult& result, const DiffOptions& options, std::size_t shown,
                     std::size_t changed, const TextStyle& style) {
  std::string keys;
  for (const GroupKey key : result.by) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", info_of(key).name);
  const std::string unit = grows_with_time(*options.sort) ? unit_of(result.basis) : "";
  const std::string part = shown < changed ? fmt::format("{} of ", say_count(shown, style)) : "";
  return fmt::format("{} by {}: change of {}{}, {}{} changed of {}", capitalised(table.allocator), keys,
                     options.sort->header, unit, part, say_count(changed, style), say_count(table.rows.size(), style));
}

std::string groups(const DiffTable& of, const DiffResult& result, const DiffOptions& options, const TextStyle& style) {
  const DiffOrder order = ordered_rows(of, *options.sort, result.basis, options.noise);
  const std::size_t changed = order.changed.size();
  const std::size_t shown = options.limit == 0 ? changed : std::min(options.limit, changed);
  std::vector<const DiffRow*> rows(order.changed.begin(), order.changed.begin() + static_cast<std::ptrdiff_t>(shown));
  const std::string title = "\n" + heading(title_of(of, result, options, shown, changed, style), style);
  if (order.unknown.size() == of.rows.size())
    return title + hanging("  ", "unknown: no group has this value in both traces", style);
  const auto others = other_columns(rows, result, options, style);

  Table table;
  for (const GroupKey key : result.by) table.columns.push_back({std::string(info_of(key).header), true});
  for (const char* const header : {"A", "B", "Change", "%"}) table.columns.push_back({header});
  for (const GroupColumn* column : others)
    table.columns.push_back({std::string(column->header), false, options.columns.empty() ? column->importance : 0});
  for (const DiffRow* row : rows) add_row(*row, others, result, options, style, table);
  const auto add_sum = [&](std::span<const DiffRow* const> part, const std::string& name) {
    if (!part.empty()) add_row(sum_of(part, name), others, result, options, style, table);
  };
  const std::span more = std::span(order.changed).subspan(shown);
  add_sum(more, fmt::format("({} more)", say_count(more.size(), style)));
  add_sum(order.unchanged, fmt::format("({} within noise)", say_count(order.unchanged.size(), style)));
  add_sum(order.unknown, fmt::format("({} unknown in A or B)", say_count(order.unknown.size(), style)));
  std::vector<const DiffRow*> all;
  for (const DiffRow& row : of.rows) all.push_back(&row);
  add_sum(all, "total");
  return title + to_text(table, style);
}

}  // namespace

std::string text_diff(const DiffResult& result, const DiffOptions& options, const TextStyle& style) {
  std::string out = missing_cpus(result, style) + traces(result, style) + warnings(result, style) +
                    basis_text(result, options, style);
  if (result.totals.empty())
    return out + "\n" + hanging("", "Nothing to compare: no selected event in either trace allocates memory.", style);
  for (const DiffTotal& total : result.totals) out += total_lines(total, result, options, style);
  for (const DiffTable& table : result.tables) out += groups(table, result, options, style);
  return out;
}

}  // namespace kmt
