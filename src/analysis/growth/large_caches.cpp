// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/large_caches.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "analysis/matching/slab_account.hpp"

namespace kmt {

namespace {

// Chosen by judgement. On healthy machines, no unreclaimable cache is that large.
constexpr double kLargeShare = 0.05;             // of the machine's memory
constexpr double kLargeShareOfSlabs = 0.1;       // of all unreclaimable slabs, if a health check of slabs is not ok
constexpr std::uint64_t kLeastBytes = 64 << 20;  // like the health checks
constexpr std::size_t kMostCaches = 3;

bool has_unhealthy_slabs(const SnapshotResult& snapshot) {
  return std::ranges::any_of(snapshot.health, [](const HealthCheck& check) {
    return (check.topic == HealthTopic::unreclaimable_slab || check.topic == HealthTopic::kmalloc) &&
           is_unhealthy(check);
  });
}

bool is_named(const SlabCacheUse& cache, const std::string& name) {
  return cache.name == name || std::ranges::find(cache.aliases, name) != cache.aliases.end();
}

// Returns null if the size of the cache has not changed.
const StateGrowth* state_of(const SlabCacheUse& cache, const Judgement& judgement) {
  const auto state = std::ranges::find_if(
      judgement.states, [&](const StateGrowth& one) { return one.cache && is_named(cache, one.shown_name()); });
  return state == judgement.states.end() ? nullptr : &*state;
}

CacheGrowth growth_of(const StateGrowth* state, const Judgement& judgement) {
  if (!judgement.saw_caches) return CacheGrowth::unknown;
  if (state == nullptr) return CacheGrowth::none;
  if (!state->sure) return state->above || state->late || state->slow ? CacheGrowth::unknown : CacheGrowth::none;
  return state->explained_bytes_per_s < state->bytes_per_s() / 2 ? CacheGrowth::unexplained : CacheGrowth::explained;
}

}  // namespace

std::vector<LargeCache> large_caches(const SnapshotResult& snapshot, const Judgement& judgement) {
  std::uint64_t unreclaimable = 0;
  for (const SlabCacheUse& cache : snapshot.caches)
    if (!is_shrinkable(cache.name, {})) unreclaimable += cache.bytes;
  const bool is_unhealthy = has_unhealthy_slabs(snapshot);
  std::vector<LargeCache> found;
  for (const SlabCacheUse& cache : snapshot.caches) {
    const auto bytes = static_cast<double>(cache.bytes);
    const StateGrowth* const state = state_of(cache, judgement);
    const CacheGrowth growth = growth_of(state, judgement);
    const bool is_large = cache.bytes >= kLeastBytes && !is_shrinkable(cache.name, {}) &&
                          (bytes >= kLargeShare * static_cast<double>(snapshot.total) ||
                           (is_unhealthy && bytes >= kLargeShareOfSlabs * static_cast<double>(unreclaimable)));
    if (growth != CacheGrowth::unexplained && !is_large) continue;
    const double share = snapshot.total == 0 ? 0 : bytes / static_cast<double>(snapshot.total);
    LargeCache& large = found.emplace_back(LargeCache{cache.name, cache.bytes, share, growth, {}});
    if (growth == CacheGrowth::unexplained) large.untested_site = state->untested_site;
  }
  std::ranges::stable_sort(found, std::greater(), [](const LargeCache& one) {
    return std::pair(one.growth == CacheGrowth::unexplained, one.bytes);
  });
  if (found.size() > kMostCaches) found.resize(kMostCaches);
  std::ranges::stable_sort(found, std::greater(), &LargeCache::bytes);
  return found;
}

}  // namespace kmt
