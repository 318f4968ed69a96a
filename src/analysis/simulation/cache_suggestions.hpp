// SPDX-License-Identifier: GPL-2.0-or-later
// Which few new kmalloc classes, or caches for the allocations of one function, save most: kmalloc objects are added
// up by function and size, and the best of all candidates is taken, again and again, each time of what the others left.
//
// A candidate saves, for each object, what its class takes of a slab less what the new cache takes, their slabs' ends
// included. Held memory counts the objects that live on average, less half a slab of the new cache for each CPU, which
// is filled only in part. That is an estimate, by which candidates are chosen; which of them save memory in truth is
// for a replay to tell (SuggestionTrial).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/simulated_heap.hpp"

namespace kmt {

// Allocations that are alike.
struct ProfiledKind {
  std::string symbol;  // of the call site
  std::string function;
  std::string cache;
  std::uint64_t requested = 0;
  std::uint64_t given = 0;
  std::uint64_t allocations = 0;
  std::uint64_t average_live = 0;  // objects, in thousandths; 0 where many look live, since their frees were not traced
};

// The objects of kmalloc that were given a slab object.
class KmallocProfile : public ObjectSink {
 public:
  KmallocProfile(const TraceInfo& info, const SymbolNames& symbols);
  ~KmallocProfile() override;

  CacheNames& cache_names() { return caches_; }
  void add(EventBatch& batch);
  std::vector<ProfiledKind> finish();

 private:
  void kind(const ObjectKind& kind) override;
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override;
  void ended(std::uint32_t object, const Event& event, bool freed) override;
  void freed_older(const Event&) override {}

  struct Account {
    ObjectKind kind;
    std::uint64_t allocations = 0;
    std::uint64_t live = 0;
    std::uint64_t unseen_frees = 0;  // their addresses were given again
    TimeIntegral integral;
  };
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  CacheNames caches_;
  ObjectStream stream_;
  std::vector<Account> accounts_;     // by kind
  std::vector<std::uint32_t> kinds_;  // by object
  ObjectClock clock_;
};

struct SuggestionRequest {
  std::size_t most = 5;
  bool by_traffic = false;                   // rank by bytes given over the trace, not by bytes held on average
  std::uint64_t least_bytes = kLeastSaving;  // that a suggestion saves
};

// Returns candidates that are worth a replay, in the order in which they were taken; `classes`: those of the recorded
// kernel. Ranked by bytes held, they are up to six times as many as are wanted. They are the best ones, and those that
// would be best if new slabs were always full, which is too good for most of them and true of some. For each there is
// its own size and the sizes that most objects ask for.
std::vector<CacheSuggestion> suggestion_candidates(const std::vector<ProfiledKind>& kinds,
                                                   const std::vector<std::uint64_t>& classes,
                                                   const SlabMachine& machine, const SuggestionRequest& request);

// Chooses from replayed candidates. Ranked by bytes given, it returns all of them in their order. Otherwise it returns
// those that save `least_bytes` of memory held on average, the largest saving first. Among candidates that move the
// same objects it takes the best, or one of another size that more objects ask for if it saves as much within the
// uncertainty.
std::vector<CacheSuggestion> best_suggestions(std::vector<CacheSuggestion> replayed, const SuggestionRequest& request);

}  // namespace kmt
