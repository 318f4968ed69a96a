// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/heap/top.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/heap/cache_counts.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::uint64_t per_second(std::uint64_t sum, std::uint64_t interval_ns) {
  return interval_ns == 0 ? 0 : rounded(static_cast<double>(sum) * 1e9 / static_cast<double>(interval_ns));
}

std::string live_text(const std::optional<Estimate>& live, const TextStyle& style) {
  return live ? say_bytes(rounded(live->value), style) : "-";
}

// Returns the confidence interval of the live bytes: "41.0 MiB to 47.2 MiB".
std::string live_range_text(const std::optional<Estimate>& live, const TextStyle& style) {
  return live ? fmt::format("{} to {}", say_bytes(rounded(live->low), style), say_bytes(rounded(live->high), style))
              : "-";
}

std::string totals_text(const char* name, const TopTotals& totals, std::uint64_t interval_ns, const TextStyle& style) {
  std::string text = fmt::format("{} {}/s, {}/s", name, say_count(per_second(totals.events_now, interval_ns), style),
                                 say_bytes(per_second(totals.bytes_now, interval_ns), style));
  if (totals.live_bytes)
    text +=
        fmt::format(", live {} ({})", live_text(totals.live_bytes, style), live_range_text(totals.live_bytes, style));
  return text;
}

std::string cell_of(const TopRow& row, TopColumn column, const TopResult& result, const TextStyle& style) {
  const bool is_estimate = result.view == TopView::stacks;
  switch (column) {
    case TopColumn::bytes_now:
      return is_estimate ? "-" : say_bytes(per_second(row.bytes_now, result.interval_ns), style);
    case TopColumn::events_now:
      return is_estimate ? "-" : say_count(per_second(row.events_now, result.interval_ns), style);
    case TopColumn::live: return live_text(row.live_bytes, style);
    case TopColumn::allocated: return say_bytes(row.allocated, style);
    case TopColumn::events: return say_count(row.events, style);
    case TopColumn::wasted: return say_bytes(row.allocated - std::min(row.requested, row.allocated), style);
    case TopColumn::failed: return say_count(row.failed, style);
    case TopColumn::net: break;
  }
  return {};
}

constexpr unsigned kImportanceOfRange = 3;  // the column with the confidence interval of live bytes

// Returns a number for the importance of a column. A narrow screen first drops the columns with the largest number.
unsigned importance_of(TopColumn column, TopColumn sorted) {
  if (column == sorted) return 0;
  switch (column) {
    case TopColumn::bytes_now: return 1;
    case TopColumn::live: return 2;
    case TopColumn::allocated: return kImportanceOfRange + 1;
    case TopColumn::events_now: return kImportanceOfRange + 2;
    case TopColumn::events: return kImportanceOfRange + 3;
    case TopColumn::wasted: return kImportanceOfRange + 4;
    case TopColumn::failed: return kImportanceOfRange + 5;
    case TopColumn::net: break;
  }
  return kImportanceOfRange + 6;
}

std::string not_seen(const TopResult& result, const TextStyle& style) {
  const HeapLosses& lost = result.losses;
  const std::pair<std::uint64_t, const char*> counts[] = {
      {lost.missed, "allocations"},          {lost.missed_frees, "frees"},
      {lost.sites, "merged into \"other\""}, {lost.samples + lost.ends, "samples lost"},
      {lost.unfollowed, "not followed"},     {result.replaced, "untraced frees"}};
  std::string text;
  for (const auto& [count, what] : counts)
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", say_count(count, style), what);
  return text.empty() ? "nothing missed" : "missed " + text;
}

Table table_of_caches(std::span<const TopRow> rows, const TopResult& result, const TextStyle& style) {
  std::vector<CacheCount> caches;
  for (const TopRow& row : rows) caches.push_back(row.objects.value_or(CacheCount{}));
  Table table = cache_table(caches, style);
  table.columns[1].header = "*" + table.columns[1].header;
  table.columns.insert(table.columns.begin() + 2, {"Net bytes/s", false, 1});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t net = rows[i].objects_now.value_or(CacheCount{}).net_bytes();
    const auto size =
        static_cast<std::int64_t>(per_second(static_cast<std::uint64_t>(std::abs(net)), result.interval_ns));
    std::vector<std::string>& cells = table.rows[i].cells;
    cells.insert(cells.begin() + 2, say_change(net < 0 ? -size : size, Unit::bytes, style));
  }
  return table;
}

// Returns lines that explain why a view has no rows or wrong numbers. Empty if nothing is missing.
std::vector<std::string> notes_of(const TopResult& result, const TextStyle& style) {
  if (result.backend == "hist" || result.backend == "ring-buffer") {
    if (needs_bpf(result.view)) return {"Only BPF programs provide this view."};
    if (result.view == TopView::processes) return {"Bytes include the pages of slabs, so objects count twice."};
  }
  if (result.view != TopView::net) return {};
  if (result.counting != CacheCounting::counted)
    return {"This kernel does not report the cache of a freed object, which needs Linux 6.13 or later with BTF."};
  return uncounted_notes(result.uncounted, style);
}

Table table_of(std::span<const TopRow> rows, const TopResult& result, const TopOptions& options,
               const TextStyle& style) {
  if (result.view == TopView::net) return table_of_caches(rows, result, style);
  Table table{{{std::string(info_of(result.view).header), true}}, {}};
  for (const TopColumnInfo& info : top_columns()) {
    const TopColumn sorted = sorted_by(result.view, options.sort);
    const std::string mark = info.column == sorted ? "*" : "";
    table.columns.push_back({mark + std::string(info.header), false, importance_of(info.column, sorted)});
    if (info.column == TopColumn::live) table.columns.push_back({"Live, 95%", false, kImportanceOfRange});
  }
  for (const TopRow& row : rows) {
    TableRow line;
    line.cells.push_back(ascii(row.name));
    for (const TopColumnInfo& info : top_columns()) {
      line.cells.push_back(cell_of(row, info.column, result, style));
      if (info.column == TopColumn::live) line.cells.push_back(live_range_text(row.live_bytes, style));
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

TopColumn sorted_by(TopView view, TopColumn column) {
  if (view == TopView::net) return TopColumn::net;
  const bool is_of_interval = column == TopColumn::bytes_now || column == TopColumn::events_now;
  return view == TopView::stacks && is_of_interval ? TopColumn::allocated : column;
}

std::vector<TopRow> rows_shown(const TopResult& result, const TopOptions& options) {
  std::vector<TopRow> rows = result.rows;
  if (!options.filter.empty())
    std::erase_if(rows, [&](const TopRow& row) { return row.name.find(options.filter) == std::string::npos; });
  sort_rows(rows, sorted_by(result.view, options.sort));
  if (options.reversed) std::ranges::reverse(rows);
  return rows;
}

std::vector<TopLine> top_heading(const TopResult& result, const TopOptions& options, const TextStyle& style) {
  const std::string of = result.selection.empty() ? "the whole machine" : printable(result.selection);
  std::string state = fmt::format("kmemtrace top - {}, {}, {}", of, say_duration(result.elapsed_ns, style),
                                  backend_text(result.backend));
  if (options.paused) state += ", paused";
  std::vector<TopLine> lines;
  lines.push_back({state, TopLineKind::heading});
  lines.push_back({totals_text("slab ", result.slab, result.interval_ns, style)});
  lines.push_back({totals_text("pages", result.pages, result.interval_ns, style)});
  const std::string memory =
      result.memory ? fmt::format(", {} of kernel memory", say_bytes(*result.memory, style)) : "";
  lines.push_back(
      {fmt::format("cost: {:.1f}% of a CPU for kmemtrace{}; {}", result.own_cpu * 100, memory, not_seen(result, style)),
       TopLineKind::aside});
  return lines;
}

std::vector<TopLine> top_table(const TopResult& result, const std::vector<TopRow>& rows, const TopOptions& options,
                               const TextStyle& style) {
  const std::size_t end = options.rows == 0 ? rows.size() : std::min(rows.size(), options.first + options.rows);
  const std::span<const TopRow> shown = std::span(rows).subspan(options.first, end - options.first);
  TextStyle plain = style;
  plain.colour = false;  // the caller applies colours according to the kind of the line
  std::vector<TopLine> lines;
  for (std::string& text : lines_of(to_text(table_of(shown, result, options, plain), plain))) {
    const std::size_t row = options.first + lines.size() - 1;
    const TopLineKind kind = lines.empty()             ? TopLineKind::heading
                             : row == options.selected ? TopLineKind::selected
                                                       : TopLineKind::plain;
    lines.push_back({std::move(text), kind});
  }
  if (rows.empty() && !options.filter.empty())
    lines.push_back({fmt::format("  No name contains \"{}\".", ascii(options.filter))});
  for (const std::string& note : notes_of(result, style)) lines.push_back({"  " + note, TopLineKind::aside});
  return lines;
}

std::vector<TopLine> top_keys() {
  std::vector<TopLine> lines = {{"Keys", TopLineKind::heading},
                                {"  1 to 9, 0, Tab  change the view"},
                                {"  s, S         sort by the next or the previous column"},
                                {"  r            reverse the order of the rows"},
                                {"  /            show only rows whose names contain a text"},
                                {"  Enter        show the stacks of the selected row"},
                                {"  p            pause the display"},
                                {"  f            write the view to a file"},
                                {"  q            quit"},
                                {"Columns", TopLineKind::heading}};
  for (const TopColumnInfo& column : top_columns()) {
    lines.push_back({fmt::format("  {:<11}  {}", column.header, column.meaning)});
    if (column.column == TopColumn::live)
      lines.push_back({"  Live, 95%    confidence interval of Live: the true value is in it 95 times of 100"});
  }
  return lines;
}

std::vector<TopLine> top_stacks(const std::string& name, const std::vector<TopRow>& stacks, const SymbolNames& symbols,
                                const TextStyle& style) {
  std::vector<TopLine> lines = {
      {fmt::format("Stacks of {}, estimated from samples", ascii(name)), TopLineKind::heading}};
  for (const TopRow& stack : stacks) {
    lines.push_back(
        {fmt::format("  allocated {}, live {}", say_bytes(stack.allocated, style), live_text(stack.live_bytes, style)),
         TopLineKind::heading});
    for (const std::uint64_t address : stack.stack) lines.push_back({"    " + ascii(symbols.name(address))});
  }
  if (stacks.empty()) lines.push_back({"  No samples of this row yet."});
  return lines;
}

std::string text_top(const TopResult& result, const SymbolNames& symbols, const TopOptions& options,
                     const TextStyle& style) {
  std::string out;
  const auto print = [&](const std::vector<TopLine>& lines) {
    for (const TopLine& line : lines)
      out += (line.kind == TopLineKind::heading ? emphasised(line.text, Emphasis::heading, style) : line.text) + "\n";
  };
  const std::vector<TopRow> rows = rows_shown(result, options);
  print(top_heading(result, options, style));
  out += "\n";
  print(top_table(result, rows, options, style));
  if (result.view == TopView::stacks)
    for (std::size_t i = 0; i < rows.size() && (options.rows == 0 || i < options.rows); ++i)
      print(top_stacks(rows[i].name, {rows[i]}, symbols, style));
  return out + "\n";
}

}  // namespace kmt
