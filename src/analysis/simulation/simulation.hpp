// SPDX-License-Identifier: GPL-2.0-or-later
// A trace replayed against models of slab allocators: as recorded, and as it might be. The trace is read twice: the
// first reading collects the requests to kmalloc (KmallocProfile) and the names of caches, the last one replays. To
// look for new caches, another reading between them replays candidates (SuggestionTrial).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/simulation/cache_suggestions.hpp"
#include "results/simulation/simulation.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct SimulationRequest {
  SlabAllocator allocator = SlabAllocator::slub;
  std::vector<std::uint64_t> classes;        // of kmalloc, ascending; empty: the kernel's
  std::vector<std::uint64_t> new_classes;    // added to them
  std::vector<SiteCache> site_caches;        // most_bytes 0: the largest request of the profile that has a class
  std::vector<CacheSuggestion> suggestions;  // replayed all together, where nothing of the above is asked for
  std::vector<SlabInfo> slabinfo_before;     // empty: there is none
  std::vector<SlabInfo> slabinfo_after;

  bool asks_for_what_if() const {
    return allocator != SlabAllocator::slub || !classes.empty() || !new_classes.empty() || !site_caches.empty();
  }
};

// Names kmalloc's caches by the slabinfo that is known. Call it before the first reading; `caches` are those of the
// second.
void name_kmalloc_caches(const TraceInfo& info, const SimulationRequest& request, CacheNames& caches);

// The recorded kernel's kmalloc.
struct KmallocModel {
  std::vector<std::uint64_t> classes;
  std::string least_class_from;  // as in SimulationResult; likewise
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;
};
KmallocModel kmalloc_model(const TraceInfo& info, const SimulationRequest& request,
                           const std::vector<ProfiledKind>& profile);

class Simulation {
 public:
  // The info and the caches are those of the second reading. All that is given must outlive this. Throws Error where a
  // site of the request allocates nothing with kmalloc.
  Simulation(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
             const std::vector<ProfiledKind>& profile);
  ~Simulation();

  void add(EventBatch& batch);
  SimulationResult finish(bool complete);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
