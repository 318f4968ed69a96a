// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/heap/heap_profile.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/text/heap/cache_counts.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

// Returns the estimate and its confidence interval: "12.0 MiB (10.1 to 14.2 MiB)"
std::string bytes_with_interval(const Estimate& estimate, const TextStyle& style) {
  return fmt::format("{} ({} to {})", say_bytes(rounded(estimate.value), style),
                     say_bytes(rounded(estimate.low), style), say_bytes(rounded(estimate.high), style));
}

// Returns half the width of the confidence interval, divided by the estimate. If the interval is wider than the
// estimate, there are too few samples.
std::string doubt(const Estimate& estimate) {
  if (estimate.value <= 0) return "-";
  const double percent = 50 * (estimate.high - estimate.low) / estimate.value;
  return percent > 100 ? ">100%" : fmt::format("±{:.0f}%", percent);
}

std::string total_lines(const char* of, const HeapFigures& figures, double seconds, const TextStyle& style) {
  std::string out = heading(of, style);
  out += labelled("allocated", bytes_with_interval(figures.bytes, style), style);
  out += labelled(
      "",
      fmt::format("{}/s, in {} objects, {} requested", say_bytes(rounded(figures.bytes.value / seconds), style),
                  say_count(rounded(figures.objects.value), style), say_bytes(rounded(figures.requested.value), style)),
      style);
  out += labelled("live", bytes_with_interval(figures.live_bytes, style), style);
  out += labelled("",
                  fmt::format("in {} objects, of memory allocated since the profile started",
                              say_count(rounded(figures.live_objects.value), style)),
                  style);
  out += labelled(
      "samples",
      fmt::format("{}, of which {} live", say_count(figures.samples, style), say_count(figures.live_samples, style)),
      style);
  return out + "\n";
}

Table table_of(const HeapProfileResult& result, std::span<const HeapRow* const> rows, bool has_stacks,
               const TextStyle& style) {
  Table table;
  if (has_stacks) table.columns.push_back({"#"});
  for (const HeapKey key : result.by) table.columns.push_back({std::string(info_of(key).header), true});
  for (const TableColumn& column : {TableColumn{"Live"},
                                    {"±", false, 1},
                                    {"Live objects", false, 4},
                                    {"Allocated", false, 0},
                                    {"±", false, 5},
                                    {"Objects", false, 3},
                                    {"Samples", false, 2}})
    table.columns.push_back(column);
  for (const HeapRow* const row : rows) {
    const HeapFigures& of = row->figures;
    TableRow line;
    if (has_stacks) line.cells.push_back(fmt::format("{}", table.rows.size() + 1));
    for (const std::string& key : row->keys) line.cells.push_back(ascii(key));
    line.cells.insert(line.cells.end(),
                      {say_bytes(rounded(of.live_bytes.value), style), doubt(of.live_bytes),
                       say_count(rounded(of.live_objects.value), style), say_bytes(rounded(of.bytes.value), style),
                       doubt(of.bytes), say_count(rounded(of.objects.value), style), say_count(of.samples, style)});
    table.rows.push_back(std::move(line));
  }
  return table;
}

// The kinds of rows. Each kind has its own table.
enum class RowKind { slab, pages, slab_pages, user_pages };

RowKind kind_of(const HeapRow& row) {
  if (row.slab_pages) return RowKind::slab_pages;
  if (row.user_pages) return RowKind::user_pages;
  return row.pages ? RowKind::pages : RowKind::slab;
}

const char* title_of(RowKind kind) {
  switch (kind) {
    case RowKind::slab: return "Slab";
    case RowKind::pages: return "Pages of the kernel, without slab pages,";
    case RowKind::slab_pages: return "Slab pages, which hold the objects above,";
    case RowKind::user_pages: return "User memory and page cache";
  }
  return "";
}

std::string rows_of(const HeapProfileResult& result, RowKind kind, const SymbolNames& symbols, std::size_t limit,
                    const TextStyle& style) {
  std::vector<const HeapRow*> rows;
  for (const HeapRow& row : result.rows)
    if (kind_of(row) == kind) rows.push_back(&row);
  if (rows.empty()) return {};
  const std::size_t all = rows.size();
  if (limit > 0) rows.resize(std::min(limit, all));
  std::vector<std::string_view> names;
  for (const HeapKey key : result.by) names.push_back(info_of(key).name);
  std::string out = heading(
      fmt::format("{} by {}, {} of {}", title_of(kind), fmt::join(names, ", "), rows.size(), say_count(all, style)),
      style);
  const bool has_stacks = std::ranges::find(result.by, HeapKey::stack) != result.by.end();
  out += to_text(table_of(result, rows, has_stacks, style), style);
  if (has_stacks) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out += fmt::format("\n  #{}\n", i + 1);
      for (const std::uint64_t address : rows[i]->stack) out += "    " + ascii(symbols.name(address)) + "\n";
    }
  }
  return out + "\n";
}

std::string caches_text(const HeapProfileResult& result, const TextStyle& style) {
  const std::string table = cache_counts_text(result.caches, style);
  if (table.empty()) return {};
  return table + hanging("  ", "These objects are counted, not sampled.", style) + "\n";
}

// Returns lines about errors that the confidence intervals do not include.
std::string loss_lines(const HeapProfileResult& result, const TextStyle& style) {
  const HeapLosses& lost = result.losses;
  const std::pair<std::uint64_t, const char*> lines[] = {
      {lost.samples, "samples were lost because kmemtrace did not read them in time: all numbers are too low"},
      {lost.ends, "frees of samples were lost; the freed samples were removed at the end"},
      {lost.unfollowed,
       "samples were not followed because too many were live or the table was busy: live memory is too low. A larger "
       "--rate draws fewer samples"},
      {lost.missed, "allocations were skipped as nested events on the same CPU"},
      {lost.missed_frees, "frees were skipped as nested events on the same CPU"},
      {result.replaced,
       "sampled objects were freed on paths without a tracepoint (bulk frees); they counted as live until their "
       "addresses were reused"},
      {lost.no_stack, "samples have no stack"},
      {lost.not_followed_processes, "forked processes were not followed"}};
  std::string out;
  for (const auto& [count, what] : lines)
    if (count > 0) out += hanging("  ", fmt::format("{} {}.", say_count(count, style), what), style);
  return out.empty() ? out : heading("Missed", style) + out + "\n";
}

}  // namespace

std::string text_heap_profile(const HeapProfileResult& result, const SymbolNames& symbols, std::size_t limit,
                              const TextStyle& style) {
  const std::string of = result.selection.empty() ? "the whole machine" : printable(result.selection);
  const double seconds = static_cast<double>(std::max<std::uint64_t>(result.duration_ns, 1)) / 1e9;
  std::string out = heading(fmt::format("Heap profile of the kernel {}, {}, {}", printable(result.kernel), of,
                                        say_duration(result.duration_ns, style)),
                            style);
  out += hanging("  ",
                 fmt::format("Estimates are based on one sample per {} allocated, on average. In 95 of 100 profiles, "
                             "the true value is in the interval shown next to the estimate.",
                             say_bytes(result.mean_bytes, style)),
                 style) +
         "\n";
  if (result.slab.samples > 0 || !result.has_pages) out += total_lines("Slab", result.slab, seconds, style);
  if (result.has_pages) {
    const bool has_user_pages = std::ranges::any_of(result.rows, &HeapRow::user_pages);
    const char* const title =
        has_user_pages ? "Pages, including slab pages and user memory" : "Pages, including slab pages";
    out += total_lines(title, result.pages, seconds, style);
  }
  out += rows_of(result, RowKind::slab, symbols, limit, style);
  out += rows_of(result, RowKind::pages, symbols, limit, style);
  out += rows_of(result, RowKind::slab_pages, symbols, limit, style);
  out += rows_of(result, RowKind::user_pages, symbols, limit, style);
  out += caches_text(result, style);
  out += loss_lines(result, style);
  if (!result.missing.empty())
    out += labelled("missing", fmt::format("this kernel has no events {}", fmt::join(result.missing, ", ")), style);
  out += missing_caches_line(result.caches, style);
  out += labelled("cost",
                  fmt::format("{} of kernel memory, {} of CPU time of kmemtrace", say_bytes(result.memory, style),
                              say_duration(result.own_cpu_ns, style)),
                  style);
  return out;
}

}  // namespace kmt
