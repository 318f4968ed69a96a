// SPDX-License-Identifier: GPL-2.0-or-later
// Candidates for new caches, each replayed by itself: what the caches that lose objects to it hold, with it and as
// recorded. Only kmalloc's objects are followed, which have caches without any name being learned.
#pragma once

#include <vector>

#include "analysis/simulation/cache_suggestions.hpp"
#include "analysis/simulation/heap_replay.hpp"

namespace kmt {

// Returns a suggestion's cache as a heap takes it.
SiteCache site_cache_of(const CacheSuggestion& suggestion);

class SuggestionTrial {
 public:
  // The info and the caches are those of the reading that is replayed; all references must outlive this.
  SuggestionTrial(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, bool random_caches,
                  std::vector<CacheSuggestion> candidates);

  void add(EventBatch& batch) { replay_.add(batch); }
  // Returns them with the results of the replay.
  std::vector<CacheSuggestion> finish();

 private:
  HeapReplay replay_;  // as recorded, then with each of the candidates
  std::vector<CacheSuggestion> candidates_;
};

}  // namespace kmt
