// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the few new kmalloc classes, or caches for the allocations of one function, that save most memory. kmalloc
// objects are summed up by function and size. Then the best candidate is chosen repeatedly. Each choice only counts
// objects that no earlier choice has moved.
//
// For each object, the saving is its share of a slab in the old class minus its share of a slab in the new cache. The
// unused ends of slabs are included. The saving of held memory is computed from the average number of live objects.
// Half a slab of the new cache for each CPU is subtracted, because these slabs are only partly filled. This estimate
// only serves to choose candidates. A replay decides which of them really save memory (SuggestionTrial).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/object_log.hpp"
#include "analysis/simulation/simulated_heap.hpp"

namespace kmt {

// kmalloc allocations with equal call site, sizes and cache.
struct ProfiledKind {
  std::string symbol;  // symbol of the call site
  std::string function;
  std::string cache;
  std::uint64_t requested = 0;
  std::uint64_t given = 0;
  std::uint64_t allocations = 0;
  // Average number of live objects, in thousandths; 0: unknown, because many frees were not traced.
  std::uint64_t average_live = 0;
};

// Collects the kmalloc objects that are in slabs. Objects with pages of their own are not collected.
class KmallocProfile : public ObjectSink {
 public:
  // Also stores all slab objects in `log`.
  KmallocProfile(const TraceInfo& info, const SymbolNames& symbols, ObjectLog& log);
  ~KmallocProfile() override;

  CacheNames& cache_names() { return caches_; }
  void add(EventBatch& batch);
  std::vector<ProfiledKind> finish();  // call once, after the last batch

 private:
  void kind(const ObjectKind& kind) override;
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override;
  void ended(std::uint32_t object, const Event& event, bool freed) override;
  void freed_older(const Event& event) override;

  struct Account {
    ObjectKind kind;
    std::uint64_t allocations = 0;  // this and the members below stay 0 for objects of kmem_cache_alloc
    std::uint64_t live = 0;
    std::uint64_t unseen_frees = 0;  // number of objects whose address was allocated again without a free
    TimeIntegral integral;
  };
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  CacheNames caches_;
  ObjectLog& log_;
  ObjectStream stream_;
  std::vector<Account> accounts_;     // index: kind
  std::vector<std::uint32_t> kinds_;  // index: object; value: its kind
  ObjectClock clock_;
};

struct SuggestionRequest {
  std::size_t most = 5;
  // true: rank candidates by bytes allocated over the whole trace; false: by bytes held on average
  bool by_traffic = false;
  std::uint64_t least_bytes = kLeastSaving;  // minimum saving of a suggestion, in bytes
};

// Returns candidates that are worth a replay, in the order in which they were chosen. `classes` are the kmalloc classes
// of the recorded kernel. If candidates are ranked by bytes held, there are up to six times as many as requested. Some
// of them are the best by the estimate. The others would be the best if new slabs were always full, which is too
// optimistic for most candidates but right for some. Each candidate has variants with the sizes that most objects
// request.
std::vector<CacheSuggestion> suggestion_candidates(const std::vector<ProfiledKind>& kinds,
                                                   const std::vector<std::uint64_t>& classes,
                                                   const SlabMachine& machine, const SuggestionRequest& request);

// Chooses from replayed candidates. If they are ranked by allocated bytes, returns all of them in the same order.
// Otherwise returns those that save at least `least_bytes` of the memory held on average, the largest saving first.
// Among candidates that move some of the same objects, the best is chosen. A variant of another size is preferred if
// more objects request its size and it saves as much within the uncertainty.
std::vector<CacheSuggestion> best_suggestions(std::vector<CacheSuggestion> replayed, const SuggestionRequest& request);

}  // namespace kmt
