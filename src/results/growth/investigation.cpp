// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/growth/investigation.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kmt {

std::string_view name_of(Certainty certainty) {
  constexpr std::array<std::string_view, 3> kNames = {"sure", "likely", "weak"};
  return kNames[static_cast<std::size_t>(certainty)];
}

std::string_view id_of(Ground ground) {
  constexpr std::array<std::string_view, 4> kIds = {"recording", "samples", "account", "call_sites"};
  return kIds[static_cast<std::size_t>(ground)];
}

std::string_view id_of(CacheGrowth growth) {
  switch (growth) {
    case CacheGrowth::none: return "none";
    case CacheGrowth::explained: return "explained";
    case CacheGrowth::unexplained: return "unexplained";
    case CacheGrowth::unknown: break;
  }
  return "unknown";
}

std::string_view id_of(GrowthVerdict verdict) {
  constexpr std::array<std::string_view, 3> kIds = {"grows", "no_growth", "cannot_tell"};
  return kIds[static_cast<std::size_t>(verdict)];
}

bool Narrowing::has(std::string_view cache) const {
  if (cache.starts_with(kPagesOfOrder))
    return pages || std::ranges::any_of(orders, [&](std::uint64_t order) { return pages_name(order) == cache; });
  if (std::ranges::find(caches, cache) != caches.end()) return true;
  return std::ranges::any_of(sizes, [&](std::uint64_t bytes) { return kmalloc_name(bytes) == cache; }) ||
         std::ranges::any_of(object_sizes, [&](std::uint64_t bytes) { return objects_name(bytes) == cache; });
}

std::string kmalloc_name(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1024;
  if (bytes >= kKiB * kKiB && bytes % (kKiB * kKiB) == 0) return fmt::format("kmalloc-{}M", bytes / kKiB / kKiB);
  if (bytes >= kKiB && bytes % kKiB == 0) return fmt::format("kmalloc-{}k", bytes / kKiB);
  return fmt::format("kmalloc-{}", bytes);
}

std::string objects_name(std::uint64_t bytes) { return fmt::format("objects of {} B", bytes); }

std::string pages_name(std::uint64_t order) { return fmt::format("{}{}", kPagesOfOrder, order); }

std::string with_merged(const std::string& name, const std::vector<std::string>& merged_with) {
  constexpr std::size_t kMost = 4;
  if (merged_with.empty()) return name;
  const auto shown = std::span(merged_with).first(std::min(merged_with.size(), kMost));
  return fmt::format("{} (merged with {}{})", name, fmt::join(shown, ", "),
                     merged_with.size() > kMost ? fmt::format(" and {} more", merged_with.size() - kMost) : "");
}

bool GrowthFinding::has(ReasonKind kind) const {
  return std::ranges::find(reasons, kind, &Reason::kind) != reasons.end();
}

bool GrowthFinding::is_of_many_processes() const {
  return process_count > 1 && (all_processes_ended() || 2 * processes.front().bytes < bytes);
}

bool Judgement::found() const {
  return std::ranges::any_of(findings,
                             [](const GrowthFinding& finding) { return finding.certainty == Certainty::sure; });
}

bool Judgement::may_grow() const {
  return std::ranges::any_of(findings,
                             [](const GrowthFinding& finding) { return finding.certainty != Certainty::weak; });
}

}  // namespace kmt
