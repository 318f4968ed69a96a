// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/suggestion_trial.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

SiteCache site_cache_of(const CacheSuggestion& suggestion) {
  return {suggestion.function, suggestion.above_bytes, suggestion.object_bytes};
}

SuggestionTrial::SuggestionTrial(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches,
                                 bool random_caches, std::vector<CacheSuggestion> candidates)
    : replay_(info, symbols, caches, random_caches), candidates_(std::move(candidates)) {
  SlabLayout recorded;
  for (const CacheSuggestion& candidate : candidates_)
    recorded.only.insert(candidate.from.begin(), candidate.from.end());
  replay_.add_heap(std::move(recorded), false);
  for (const CacheSuggestion& candidate : candidates_) {
    SlabLayout layout;
    layout.only.insert(candidate.from.begin(), candidate.from.end());
    layout.site_caches.push_back(site_cache_of(candidate));
    replay_.add_heap(std::move(layout), false);
  }
}

std::vector<CacheSuggestion> SuggestionTrial::finish() {
  const std::uint64_t end_ns = replay_.end_ns();
  const std::vector<HeapSimulation>& heaps = replay_.heaps();
  const SlabMachine& machine = replay_.machine();
  const SimulatedHeap recorded = heaps.front().result(end_ns);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    CacheSuggestion& candidate = candidates_[i];
    const std::set<std::string, std::less<>>& only = heaps[i + 1].layout().only;
    for (const SimulatedCache& cache : recorded.caches) {
      if (!only.contains(without_random(cache.name))) continue;
      candidate.average_held += cache.average.held;
      candidate.peak_held += cache.peak.held;
    }
    for (const SimulatedCache& cache : heaps[i + 1].result(end_ns).caches) {
      candidate.average_held_then += cache.average.held;
      candidate.peak_held_then += cache.peak.held;
    }
    // The lists of CPUs may hold slabs of each new cache, which makes the saving uncertain. The lists of the old caches
    // do not matter, because these caches exist in both cases.
    const SlabGeometry geometry = slub_geometry(candidate.object_bytes, machine);
    std::uint64_t caches = candidate.function.empty() ? candidate.from.size() : 1;
    if (replay_.has_random_caches() && candidate.function.empty()) caches *= kRandomCaches;
    candidate.uncertain_bytes = caches * most_list_bytes(geometry, machine);
  }
  return std::move(candidates_);
}

}  // namespace kmt
