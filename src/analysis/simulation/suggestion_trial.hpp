// SPDX-License-Identifier: GPL-2.0-or-later
// Replays each candidate for a new cache separately. Compares the memory held with and without the new cache, for all
// caches whose objects the candidate moves. Only kmalloc objects are replayed, because the names of their caches are
// known without an earlier pass.
#pragma once

#include <vector>

#include "analysis/simulation/cache_suggestions.hpp"
#include "analysis/simulation/heap_replay.hpp"

namespace kmt {

// Converts a suggestion to a cache of a simulated heap.
SiteCache site_cache_of(const CacheSuggestion& suggestion);

class SuggestionTrial {
 public:
  // `info` and `caches` must belong to the pass over the trace that is replayed. All references must outlive this
  // object.
  SuggestionTrial(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, bool random_caches,
                  std::vector<CacheSuggestion> candidates);

  void add(EventBatch& batch) { replay_.add(batch); }
  void replay(const ObjectLog& log) { replay_.replay(log); }
  // Returns the candidates with the results of the replay.
  std::vector<CacheSuggestion> finish();

 private:
  HeapReplay replay_;  // the first heap has the recorded caches; each other heap has one candidate in addition
  std::vector<CacheSuggestion> candidates_;
};

}  // namespace kmt
