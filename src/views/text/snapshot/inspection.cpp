// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/inspection.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/common/conclusion.hpp"
#include "views/common/object_commands.hpp"
#include "views/common/object_words.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr double kSmallestShare = 0.05;             // smaller kinds are not shown
constexpr std::uint64_t kSmallestGrowth = 4 << 20;  // in bytes; page frames always change a little

std::string kind_text(const CacheKinds& cache, const SlabKind& kind, const TextStyle& style) {
  std::string out = hanging(
      "    ", ascii(fmt::format("{:.0f}%, {}: {}", 100 * kind.share, say_bytes(kind.bytes, style), full_name_of(kind))),
      style);
  if (kind.addresses.empty()) return out;
  const std::uint64_t address = kind.addresses.front();
  out += "      drgn   " + ascii(drgn_command(kind, address)) + "\n";
  return out + "      crash  " + ascii(crash_command(kind, cache.object_size, address)) + "\n";
}

std::string growth_of(const std::vector<PagesChange>& rows, const char* unnamed, const TextStyle& style) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> grown;
  for (const PagesChange& row : rows)
    if (row.after > row.before && grown.size() < kMost)
      grown.push_back(fmt::format("{}: +{}", row.name.empty() ? unnamed : ascii(row.name),
                                  say_bytes(row.after - row.before, style)));
  return fmt::format("{}", fmt::join(grown, "; "));
}

}  // namespace

std::string text_large_caches(const InvestigationResult& result, std::size_t kinds, const TextStyle& style) {
  std::string out;
  for (const LargeCache& cache : result.large_caches) {
    if (!cache.kinds) continue;
    out += fmt::format("  {}: {}, {} sampled objects\n", ascii(cache.name), say_bytes(cache.bytes, style),
                       say_count(cache.kinds->sampled, style));
    std::size_t shown = 0;
    for (const SlabKind& kind : cache.kinds->kinds)
      if (shown++ == 0 || (shown <= kinds && kind.share >= kSmallestShare)) out += kind_text(*cache.kinds, kind, style);
    for (const std::string& note : notes_of(*cache.kinds, cache.end)) out += hanging("    ", note, style);
  }
  return out.empty() ? out : "\n" + heading("Objects in large slab caches", style) + out;
}

std::string text_census_change(const InvestigationResult& result, const TextStyle& style) {
  if (!result.census || result.census->after < result.census->before + kSmallestGrowth) return {};
  const CensusChange& census = *result.census;
  std::string out = "\n" + heading("Kernel pages that are neither slab nor page tables", style);
  out += labelled("growth",
                  fmt::format("{}, from {} to {}", say_bytes(census.after - census.before, style),
                              say_bytes(census.before, style), say_bytes(census.after, style)),
                  style);
  out += labelled("by order", growth_of(census.orders, "", style), style);
  out += labelled("by flags", growth_of(census.flags, "", style), style);
  if (!census.cgroups.empty())
    out += labelled("by cgroup", growth_of(census.cgroups, "no cgroup, or a removed one", style), style);
  return out;
}

std::string text_owner_growth(const InvestigationResult& result, std::size_t most, const TextStyle& style) {
  struct Part {
    const char* title;
    std::size_t shown = 0;
    std::string rows = {};
  };
  Part unaccounted{"Growth of memory that no counter contains, by owner"};
  Part counted{"Growth of memory that other counters contain at least in part, by owner"};
  for (const OwnerGrowth& growth : result.owners) {
    if (growth.after < growth.before + kSmallestGrowth) break;
    const bool is_counted = growth.owner.place != OwnerPlace::unaccounted;
    Part& part = is_counted ? counted : unaccounted;
    if (part.shown++ >= most) continue;
    part.rows += hanging("  ",
                         ascii(fmt::format("{}: +{}, from {} to {}{}", full_name(growth.owner),
                                           say_bytes(growth.after - growth.before, style),
                                           say_bytes(growth.before, style), say_bytes(growth.after, style),
                                           is_counted ? fmt::format(" ({})", describe(growth.owner.place).label) : "")),
                         style);
  }
  std::string out;
  for (const Part* const part : {&unaccounted, &counted})
    if (!part->rows.empty()) out += "\n" + heading(part->title, style) + part->rows;
  return out;
}

}  // namespace kmt
