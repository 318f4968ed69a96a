// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the model of SLUB against the kernel's own slabinfo. The model starts with the slabs from before the trace,
// follows new and older objects in the trace, and ends with a prediction of the slabs after it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/slub_heap.hpp"
#include "results/simulation/simulation.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

class SlabinfoCheck {
 public:
  // `by_size`: no event names a cache, as before Linux 5.12. Caches of equal objects are then one,
  // where their slabs are equal too; else they are not compared.
  SlabinfoCheck(std::span<const SlabInfo> all_before, const SlabMachine& machine, bool by_size);

  void kind(const ObjectKind& kind);  // in the order of their numbers
  void began(std::uint32_t object, std::uint32_t kind, const Event& event);
  void ended(std::uint32_t object, std::uint32_t kind, const Event& event);
  void freed_older(const Event& event, const std::string& cache);  // the cache's name where the event has it

  SlabinfoComparison compare(std::span<const SlabInfo> all_after) const;

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Cache {
    SlabInfo before;
    SlubHeap heap;
  };

  const SlabMachine& machine_;
  bool by_size_;
  std::vector<Cache> caches_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::uint32_t> cache_of_kind_;
  std::vector<std::uint32_t> places_;     // by object
  FlatMap<std::uint32_t> cache_of_page_;  // where objects were seen: kfree does not name the cache
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace kmt
