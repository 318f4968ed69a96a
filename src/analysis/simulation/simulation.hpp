// SPDX-License-Identifier: GPL-2.0-or-later
// Replays a trace with models of slab allocators, without changes and with changes. The trace is read once. This pass
// collects the kmalloc requests (KmallocProfile), the names of caches, and the objects to replay (ObjectLog). If new
// caches are to be suggested, the candidates are replayed first (SuggestionTrial). If the trace has too many
// objects for the log, it is read again for each replay.
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
  // Sizes of kmalloc caches, ascending; empty: the sizes of the recorded kernel.
  std::vector<std::uint64_t> classes;
  std::vector<std::uint64_t> new_classes;  // sizes to add to `classes`
  // New caches. If most_bytes of a cache is 0, the largest request in the profile is used instead.
  std::vector<SiteCache> site_caches;
  // Suggestions that are replayed together; ignored if one of the members above is set.
  std::vector<CacheSuggestion> suggestions;
  std::vector<SlabInfo> slabinfo_before;  // slabinfo before the trace; empty: not available
  std::vector<SlabInfo> slabinfo_after;

  bool asks_for_what_if() const {
    return allocator != SlabAllocator::slub || !classes.empty() || !new_classes.empty() || !site_caches.empty();
  }
};

// Sets whether kmalloc has separate caches for control groups. The slabinfo shows this; without slabinfo, the kernel's
// version decides. Call this function before the first pass, and before each replay from the trace.
void name_kmalloc_caches(const TraceInfo& info, const SimulationRequest& request, CacheNames& caches);

// Properties of kmalloc in the recorded kernel.
struct KmallocModel {
  std::vector<std::uint64_t> classes;
  std::string least_class_from;  // the following members have the same meaning as in SimulationResult
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;
};
KmallocModel kmalloc_model(const TraceInfo& info, const SimulationRequest& request,
                           const std::vector<ProfiledKind>& profile);

class Simulation {
 public:
  // `info` and `caches` must belong to the pass that is replayed. All arguments must outlive this object. Throws Error
  // if a site in `request` allocates nothing with kmalloc.
  Simulation(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
             const std::vector<ProfiledKind>& profile);
  ~Simulation();

  // Replays the trace. Call either add() with all events of the trace, or replay() with a log of its objects.
  void add(EventBatch& batch);
  void replay(const ObjectLog& log);
  SimulationResult finish(bool complete);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
