// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/histogram.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string value_text(std::string_view name, const std::optional<std::uint64_t>& value, bool approximate,
                       const TextStyle& style) {
  if (!value) return "?";
  if (is_percentage(name)) return fmt::format("{}.{:02}", *value / 100, *value % 100);
  return (approximate && !style.raw ? "~" : "") + say_count(*value, style);
}

const char* format_text(HistogramSource source) {
  return source == HistogramSource::allocinfo ? "allocinfo: live allocations of each call site"
                                              : "histogram of the kernel: sums by keys, not single events";
}

std::string totals_line(const Histogram& histogram, const TextStyle& style) {
  if (histogram.source == HistogramSource::allocinfo)
    return labelled("totals",
                    fmt::format("{} at {}", say_number_of(histogram.hits.value_or(0), "live allocation", style),
                                say_number_of(histogram.rows.size(), "call site", style)),
                    style);
  if (!histogram.hits)
    return labelled("totals", "unknown: the text ends before the kernel's totals, so rows may be missing", style);
  std::string text = fmt::format("{} counted, in {}", say_number_of(*histogram.hits, "event", style),
                                 say_number_of(histogram.entries.value_or(histogram.rows.size()), "row", style));
  if (const std::uint64_t dropped = histogram.dropped.value_or(0); dropped > 0)
    text += fmt::format("; {} dropped, because the table was full: sums are too small",
                        say_number_of(dropped, "event", style));
  return labelled("totals", text, style);
}

// Returns a warning if the rows differ from the kernel's totals.
std::string difference_line(const Histogram& histogram, const TextStyle& style) {
  const HistogramDifference difference = difference_from_totals(histogram);
  std::vector<std::string> parts;
  if (difference.entries)
    parts.push_back(fmt::format("the text has {}, not {}", say_number_of(histogram.rows.size(), "row", style),
                                say_count(*histogram.entries, style)));
  if (difference.hits) {
    const auto counted = sums_of(histogram).front();
    parts.push_back(fmt::format("the rows count {} events, not {}", counted ? say_count(*counted, style) : "?",
                                say_count(*histogram.hits, style)));
  }
  if (parts.empty()) return {};
  const char* const cause = difference.entries || histogram.unreadable_rows > 0
                                ? "rows are missing, damaged or repeated"
                                : "a row is damaged, or the kernel counted while it printed";
  return labelled("mismatch", fmt::format("{}: {}", fmt::join(parts, ", and "), cause), style);
}

// Returns the indexes of the values that are numbers. The kernel can also print bars.
std::vector<std::size_t> numeric_values(const Histogram& histogram) {
  std::vector<std::size_t> numeric;
  for (std::size_t i = 0; i < histogram.values.size(); ++i)
    if (std::ranges::any_of(histogram.rows, [i](const HistogramRow& row) { return row.values[i].has_value(); }))
      numeric.push_back(i);
  return numeric;
}

std::string table_of(const Histogram& histogram, std::size_t limit, const TextStyle& style) {
  Table table;
  const std::vector<std::size_t> numeric = numeric_values(histogram);
  for (const std::string& key : histogram.keys) table.columns.push_back({ascii(key), true});
  for (const std::size_t i : numeric) table.columns.push_back({ascii(histogram.values[i])});
  const std::size_t shown = limit == 0 ? histogram.rows.size() : std::min(limit, histogram.rows.size());
  for (std::size_t r = 0; r < shown; ++r) {
    const HistogramRow& source = histogram.rows[r];
    TableRow row;
    for (const std::string& key : source.keys) row.cells.push_back(ascii(key));
    for (const std::size_t i : numeric)
      row.cells.push_back(value_text(histogram.values[i], source.values[i], source.approximate, style));
    table.rows.push_back(std::move(row));
  }
  TableRow total;
  total.aside = true;
  for (std::size_t i = 0; i < histogram.keys.size(); ++i) total.cells.emplace_back(i == 0 ? "sum of all rows" : "");
  const bool approximate = std::ranges::any_of(histogram.rows, &HistogramRow::approximate);
  const auto sums = sums_of(histogram);
  for (const std::size_t i : numeric)
    total.cells.push_back(value_text(histogram.values[i], sums[i], approximate, style));
  table.rows.push_back(std::move(total));
  std::string out = to_text(table, style);
  if (shown < histogram.rows.size())
    out += fmt::format("  … {} more rows: --limit 0 shows all\n", say_count(histogram.rows.size() - shown, style));
  return out;
}

}  // namespace

std::string text_histograms(const std::string& path, const std::vector<Histogram>& histograms, std::size_t limit,
                            const TextStyle& style) {
  std::string out = heading(printable(path), style);
  for (const Histogram& histogram : histograms) {
    if (&histogram == &histograms.front()) out += labelled("format", format_text(histogram.source), style);
    if (!histogram.trigger.empty()) out += labelled("trigger", printable(histogram.trigger), style);
    out += totals_line(histogram, style) + difference_line(histogram, style);
    if (histogram.unreadable_rows > 0)
      out += labelled("unreadable", say_number_of(histogram.unreadable_rows, "row", style), style);
    if (!histogram.rows.empty()) out += "\n" + table_of(histogram, limit, style) + "\n";
  }
  return out;
}

}  // namespace kmt
