// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the model of SLUB against the kernel's slabinfo. The model starts with the slabs that existed before the
// trace. It follows the objects of the trace, and frees of older objects. Its state at the end is compared with the
// slabinfo after the trace.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/slub_cache.hpp"
#include "results/simulation/simulation.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

class SlabinfoCheck {
 public:
  // `by_size` is true if events do not name caches (before Linux 5.12). Caches with equal object sizes are then treated
  // as one if their slabs are equal too. If their slabs differ, they are not compared.
  SlabinfoCheck(std::span<const SlabInfo> all_before, const SlabMachine& machine, bool by_size);

  void kind(const ObjectKind& kind);  // must be called in the order of the kinds' numbers
  void began(std::uint32_t object, std::uint32_t kind, const Event& event);
  void ended(std::uint32_t object, std::uint32_t kind, const Event& event);
  // `cache` is empty if the event does not contain the name of the cache.
  void freed_older(const Event& event, const std::string& cache);

  SlabinfoComparison compare(std::span<const SlabInfo> all_after) const;

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Cache {
    SlabInfo before;
    std::unique_ptr<SlubCache> heap;
  };

  const SlabMachine& machine_;
  bool by_size_;
  std::vector<Cache> caches_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::uint32_t> cache_of_kind_;
  std::vector<std::uint32_t> places_;  // index: object; value: result of SlabHeap::allocate()
  // By page: the cache of its objects, because kfree events do not name the cache.
  FlatMap<std::uint32_t> cache_of_page_;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace kmt
