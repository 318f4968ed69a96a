// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/series.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

constexpr unsigned kWide = 110;  // if lines have at least this number of characters, plots are wider

std::string bytes_text(double bytes, const TextStyle& style, bool plus = false) {
  constexpr double kMost = 9e18;
  const auto size = static_cast<std::uint64_t>(std::llround(std::min(std::abs(bytes), kMost)));
  return (bytes < 0 ? "-" : plus ? "+" : "") + say_bytes(size, style);
}

std::string amount_text(SnapshotPart part, double amount, const TextStyle& style, bool plus = false) {
  if (!counts_cgroups(part)) return bytes_text(amount, style, plus);
  return (amount < 0 ? "-" : plus ? "+" : "") + say_count(static_cast<std::uint64_t>(std::abs(amount)), style);
}

// Draws the values of a row. The scale starts at the smallest value, because changes are often small compared with the
// values.
std::string picture(const SnapshotRow& row, const SnapshotSeries& series, const TextStyle& style) {
  std::vector<double> values(series.elapsed_ns.size(), std::nan(""));
  const double least = std::ranges::min(row.values);
  std::ranges::transform(row.values, values.begin() + static_cast<std::ptrdiff_t>(row.first),
                         [least](double value) { return value - least; });
  return sparkline(values, style.width >= kWide ? 30 : 16, style);
}

std::string series_lines(const SnapshotSeries& series, const TextStyle& style) {
  std::string out = heading(printable(series.path), style);
  const std::size_t seen = series.elapsed_ns.size();
  std::string count = say_number_of(series.stored, "snapshot", style);
  if (seen + series.damaged < series.stored) count += fmt::format(", {} of them used", say_count(seen, style));
  out += labelled("snapshots", fmt::format("{} in {}", count, say_duration(series.span_ns(), style)), style);
  if (series.first_unix_ns != 0)
    out += labelled("taken", fmt::format("{} to {}", say_time(series.first_unix_ns), say_time(series.last_unix_ns)),
                    style);
  const std::string amount = series.total == 0 ? "an unknown amount" : say_bytes(series.total, style);
  if (!series.cgroup.empty())
    out += labelled("cgroup", fmt::format("{}, {} used", printable(series.cgroup), amount), style);
  else if (!series.release.empty())
    out += labelled("machine",
                    fmt::format("Linux {}{}{}, {} of memory", printable(series.release),
                                series.machine.empty() ? "" : " ", printable(series.machine), amount),
                    style);
  if (series.damaged > 0)
    out +=
        labelled("damaged", fmt::format("{} cannot be read", say_number_of(series.damaged, "snapshot", style)), style);
  for (const std::string& damage : series.damage) out += labelled("damaged", printable(damage), style);
  for (const std::string& note : series.notes) out += labelled("log", printable(note), style);
  if (!series.finished)
    out += labelled(
        "ended", "the writer did not finish the file, or is still writing it: the last snapshot may be missing", style);
  return out;
}

std::string part_heading(SnapshotPart part, std::string_view what, std::size_t shown, std::size_t total,
                         const TextStyle& style) {
  return counted_heading(fmt::format("{}, {}", describe(part).heading, what), shown, total, style);
}

std::string growing_rows(SnapshotPart part, const SnapshotSeries& series, const SeriesOptions& options,
                         const TextStyle& style) {
  const auto rows = sorted_rows(series, part, SeriesOrder::growth);
  if (rows.empty()) return {};
  Table table{{{std::string(describe(part).one), true},
               {"Growth"},
               {"At least", false, 2},
               {"Sure", false, 4},
               {"First", false, 3},
               {"Last", false, 1},
               {"From least to most", false, 5},
               {"Verdict"}},
              {}};
  const std::size_t shown = options.shown(rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SnapshotRow& row = *rows[i];
    TableRow line{{ascii(row.name), say_growth(row.trend.bytes_per_s), say_growth(row.trend.low),
                   fmt::format("{:.1f}%", 100 * row.trend.confidence), bytes_text(row.values.front(), style),
                   bytes_text(row.values.back(), style), picture(row, series, style),
                   std::string(describe(row.verdict).id)}};
    if (row.verdict == LeakVerdict::certain) line.emphasis = Emphasis::warning;
    table.rows.push_back(std::move(line));
  }
  return part_heading(part, "by growth", shown, rows.size(), style) + to_text(table, style);
}

// Returns the row of this part that has the fastest confirmed growth, or null.
const SnapshotRow* certain_of(SnapshotPart part, const SnapshotSeries& series) {
  for (const SnapshotRow* row : sorted_rows(series, part, SeriesOrder::growth))
    if (row->verdict == LeakVerdict::certain) return row;
  return nullptr;
}

// Returns a sentence about the memory whose growth is uncertain. Empty if there is none.
std::string uncertain_growth(const SnapshotSeries& series) {
  bool in_sheaves = false;
  bool reclaimable = false;
  for (const SnapshotRow& row : series.rows) {
    if (!row.judged || row.verdict != LeakVerdict::uncertain) continue;
    (row.is_in_sheaves() ? in_sheaves : reclaimable) = true;
  }
  if (in_sheaves && reclaimable)
    return " The uncertain growth is reclaimable memory, or may be free objects in sheaves of CPUs.";
  if (in_sheaves) return " The uncertain growth may be free objects in sheaves of CPUs.";
  return reclaimable ? " The uncertain growth is reclaimable memory." : "";
}

std::string verdict(const SnapshotSeries& series, const TextStyle& style) {
  const std::string threshold = say_growth(series.threshold_bytes_per_s).substr(1);
  if (series.elapsed_ns.size() < Trend::kFewestValues)
    return fmt::format("Growth cannot be judged: at least {} snapshots are needed.", Trend::kFewestValues);
  if (series.is_unclear()) return "Growth cannot be judged: the snapshots have no times, or the times do not increase.";
  std::string who;
  for (const SnapshotPart part : kSnapshotParts)
    if (const SnapshotRow* row = certain_of(part, series))
      who += fmt::format("{}{} by {}", who.empty() ? "" : "; ", ascii(row->label), say_growth(row->trend.bytes_per_s));
  if (who.empty())
    return fmt::format("No certain growth: nothing grows by more than {} for certain.{}", threshold,
                       uncertain_growth(series));
  return fmt::format(
      "Growth: certain. At least one row grows faster than the threshold of {}. The fastest row of each kind: {}. The "
      "kinds count the same memory in different ways. A cache that needs more than these {} to fill up looks the same: "
      "take a longer series.",
      threshold, who, say_duration(series.span_ns(), style));
}

enum class SeriesRows : std::uint8_t { all, risen };

std::string changed_rows(SnapshotPart part, const SnapshotSeries& series, const SeriesOptions& options,
                         const TextStyle& style, SeriesRows which = SeriesRows::all) {
  auto rows = sorted_rows(series, part, SeriesOrder::change);
  if (which == SeriesRows::risen)
    std::erase_if(rows, [](const SnapshotRow* row) { return !row->judged || row->change() <= 0; });
  if (rows.empty()) return {};
  const bool is_sheet = part == SnapshotPart::balance_sheet;
  Table table{{{std::string(is_sheet ? "Where it is" : describe(part).one), true},
               {"First", false, 1},
               {"Last", false, 1},
               {"Change"},
               {"Least", false, 3},
               {"Most", false, 2},
               {"From least to most", false, 4}},
              {}};
  const std::size_t shown = is_sheet ? rows.size() : options.shown(rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SnapshotRow& row = *rows[i];
    const auto [least, most] = std::ranges::minmax(row.values);
    if (is_sheet && least == 0 && most == 0 && !style.raw) continue;
    const double change = row.change();
    TableRow line{{std::string(std::size_t{2} * row.depth, ' ') + ascii(row.label),
                   amount_text(part, row.values.front(), style), amount_text(part, row.values.back(), style),
                   change == 0 && !style.raw ? "=" : amount_text(part, change, style, true),
                   amount_text(part, least, style), amount_text(part, most, style), picture(row, series, style)}};
    line.aside = !row.counted;
    if (is_sheet && row.depth == 0) line.emphasis = Emphasis::heading;
    table.rows.push_back(std::move(line));
  }
  const std::string_view title = which == SeriesRows::risen ? "Kernel memory that rose" : "Where the memory was";
  return (is_sheet ? "\n" + heading(std::string(title), style)
                   : part_heading(part, "by change", shown, rows.size(), style)) +
         to_text(table, style);
}

}  // namespace

std::string text_series_leaks(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style) {
  std::string out = series_lines(series, style) + "\n" + hanging("", verdict(series, style), style);
  const bool is_short = series.elapsed_ns.size() < Trend::kFewestValues;
  for (const SnapshotPart part : kSnapshotParts)
    out += is_short ? changed_rows(part, series, options, style, SeriesRows::risen)
                    : growing_rows(part, series, options, style);
  return out + concepts_line(style);
}

std::string text_series_report(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style) {
  std::string out = series_lines(series, style);
  for (const SnapshotPart part : kSnapshotParts) out += changed_rows(part, series, options, style);
  return out;
}

std::string text_series_timeline(const SnapshotSeries& series, const SeriesOptions& options, const TextStyle& style) {
  constexpr std::size_t kHeight = 4;
  std::string out = series_lines(series, style) + "\n";
  for (const SnapshotRow* row : sorted_rows(series, SnapshotPart::balance_sheet, SeriesOrder::change)) {
    const auto [least, most] = std::ranges::minmax(row->values);
    if (row->depth > 0 || !row->counted || least == most) continue;
    std::vector<double> values(series.elapsed_ns.size(), std::nan(""));
    std::copy(row->values.begin(), row->values.end(), values.begin() + static_cast<std::ptrdiff_t>(row->first));
    out += plot({{row->label, std::move(values)}},
                {kHeight, "0 s", say_duration(series.span_ns(), style),
                 [&](double value) { return bytes_text(value, {.raw = false}); }, true},
                style);
  }
  for (const SnapshotPart part : kSnapshotParts)
    if (part != SnapshotPart::balance_sheet) out += changed_rows(part, series, options, style);
  return out;
}

}  // namespace kmt
