// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/heap/cache_counts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"

namespace kmt {

Table cache_table(std::span<const CacheCount> caches, const TextStyle& style) {
  const bool has_slabinfo =
      std::ranges::any_of(caches, [](const CacheCount& cache) { return cache.slabinfo_objects.has_value(); });
  Table table{{{"Cache", true},
               {"Net bytes"},
               {"Net", false, 1},
               {"Allocated", false, 3},
               {"Freed", false, 3},
               {"Object", false, 4}},
              {}};
  if (has_slabinfo) table.columns.push_back({"Slabinfo", false, 2});
  for (const CacheCount& cache : caches) {
    TableRow line{{ascii(cache.name), say_change(cache.net_bytes(), Unit::bytes, style),
                   say_change(cache.net_objects(), Unit::count, style), say_count(cache.allocations, style),
                   say_count(cache.frees, style), say_bytes(cache.object_bytes, style)}};
    if (has_slabinfo)
      line.cells.push_back(cache.slabinfo_objects ? say_change(*cache.slabinfo_objects, Unit::count, style) : "-");
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string cache_counts_text(const CacheCounts& caches, const TextStyle& style) {
  constexpr std::size_t kMostRows = 10;
  const std::size_t shown = style.raw ? caches.rows.size() : std::min(caches.rows.size(), kMostRows);
  if (shown == 0) return {};
  const std::string title = fmt::format("Slab caches by net bytes, {} of {}", shown, caches.rows.size());
  std::string out = heading(title, style) + to_text(cache_table(std::span(caches.rows).first(shown), style), style);
  for (const std::string& note : uncounted_notes(caches.uncounted, style)) out += hanging("  ", note, style);
  return out;
}

std::vector<std::string> uncounted_notes(const UncountedObjects& uncounted, const TextStyle& style) {
  std::vector<std::string> notes;
  if (uncounted.objects > 0)
    notes.push_back(fmt::format("{} not counted, because a table was full: the numbers above may be too small.",
                                say_number_of(uncounted.objects, "object", style)));
  if (uncounted.missed_calls > 0)
    notes.push_back(fmt::format(
        "Net may be wrong, because not every call of functions without a tracepoint was counted ({} missed).",
        say_count(uncounted.missed_calls, style)));
  if (!uncounted.functions.empty())
    notes.push_back(
        fmt::format("Net may be wrong, because objects that are freed or allocated in {}() are not "
                    "counted{}.",
                    printable(fmt::format("{}", fmt::join(uncounted.functions, "(), "))),
                    uncounted.reason.empty() ? "" : fmt::format(" ({})", printable(uncounted.reason))));
  return notes;
}

std::string missing_caches_line(const CacheCounts& caches, const TextStyle& style) {
  if (caches.counting != CacheCounting::unsupported) return {};
  return labelled("missing", "counts by slab cache, which need Linux 6.13 or later with BTF", style);
}

}  // namespace kmt
