// SPDX-License-Identifier: GPL-2.0-or-later
// Replays a trace with models of slab allocators: as recorded, and with changes. The trace is read twice. The first
// pass collects the kmalloc requests (KmallocProfile) and the names of caches, the last pass replays them. A pass in
// between replays candidates if new caches are wanted (SuggestionTrial).
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
  std::vector<std::uint64_t> classes;        // kmalloc classes, ascending; empty: the kernel's
  std::vector<std::uint64_t> new_classes;    // added to `classes`
  std::vector<SiteCache> site_caches;        // most_bytes 0: largest request in the profile
  std::vector<CacheSuggestion> suggestions;  // replayed together, if none of the options above is used
  std::vector<SlabInfo> slabinfo_before;     // empty: not available
  std::vector<SlabInfo> slabinfo_after;

  bool asks_for_what_if() const {
    return allocator != SlabAllocator::slub || !classes.empty() || !new_classes.empty() || !site_caches.empty();
  }
};

// Sets whether kmalloc has caches for control groups, according to slabinfo or, without it, to the kernel's version.
// Call this before the first pass. `caches` are for the second pass.
void name_kmalloc_caches(const TraceInfo& info, const SimulationRequest& request, CacheNames& caches);

// kmalloc in the recorded kernel.
struct KmallocModel {
  std::vector<std::uint64_t> classes;
  std::string least_class_from;  // as in SimulationResult, like the members below
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;
};
KmallocModel kmalloc_model(const TraceInfo& info, const SimulationRequest& request,
                           const std::vector<ProfiledKind>& profile);

class Simulation {
 public:
  // `info` and `caches` must belong to the second pass. All arguments must outlive this object. Throws Error if a
  // requested site allocates nothing with kmalloc.
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
