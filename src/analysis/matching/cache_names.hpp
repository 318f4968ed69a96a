// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the slab cache of an allocation. Linux 7 names it in kmem_cache_alloc; kernels since 5.12 name it only when the
// object is freed, so it is learned in a pass of its own. A call site that asks for objects of one size nearly always
// does so from one cache (a mempool's is an exception). Objects of kmalloc are named after their size and kind, as the
// kernel names its caches (mm/slab_common.c).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/matching/slab_matcher.hpp"
#include "base/intern_table.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CacheNames {
 public:
  // The info must outlive this, and be that of the trace whose allocations are asked for.
  explicit CacheNames(const TraceInfo& info);

  // Assumes caches of control groups although no sample has slabinfo. Call this before all else.
  void take_cgroup_caches_for_given();
  // All events of the trace, in their order; `info` is that of the reader that gives them.
  void learn(const EventBatch& batch, const TraceInfo& info);
  // Frees the memory that only learn() needs.
  void end_learning() { objects_ = {}; }
  // There is nothing to learn: the kernel names caches where it allocates.
  bool named_by_allocations() const { return named_by_allocations_; }

  // Returns the id of a slab allocation: equal ids have equal names.
  std::uint32_t id_of(const Event& event);
  // Empty: unknown. If objects of a call site and size went back to several caches, those that got at least a tenth of
  // them: "bio-120|bio-184".
  const std::string& operator[](std::uint32_t id) const { return names_[id]; }
  // True if kmalloc takes the object from a reclaimable cache, kmalloc-rcl-*.
  bool is_reclaimable_kmalloc(const Event& event) const { return kind_of(event.gfp_flags) == KmallocKind::reclaimable; }

 private:
  struct Request {
    std::uint64_t call_site;  // address
    std::uint64_t bytes;      // of the object
  };
  struct Source {  // decides on the name
    std::uint64_t bytes;
    std::uint32_t call_site;
    std::uint32_t cache;  // as the event names it; kKmalloc
  };
  // For kmalloc, Source::cache counts down from here by KmallocKind.
  static constexpr std::uint32_t kKmalloc = ~0u;
  enum class KmallocKind : std::uint8_t { normal, cgroup, reclaimable, dma };
  std::uint32_t flag(std::string_view name) const;
  KmallocKind kind_of(std::uint32_t gfp_flags) const;
  std::string name_of(const Source& source) const;
  std::string kmalloc_name(std::uint64_t bytes, KmallocKind kind) const;
  std::uint64_t kmalloc_size(const Event& event) const;

  const TraceInfo& info_;
  std::uint32_t account_flag_ = 0;  // __GFP_ACCOUNT, where the kernel has caches for it; likewise
  std::uint32_t reclaimable_flag_ = 0;
  std::uint32_t dma_flag_ = 0;
  bool short_sizes_ = true;  // "kmalloc-1k", not "kmalloc-1024"
  // Bytes that objects of kmalloc's caches take, by the cache's size. Empty unless debugging makes some of them larger.
  std::map<std::uint64_t, std::set<std::uint64_t>> kmalloc_sizes_;
  bool named_by_allocations_ = false;
  SlabMatcher objects_;  // while learning; live objects are called by ids of requests_
  InternTable<Request> requests_;
  std::map<std::uint32_t, std::map<std::string, std::uint64_t>> learned_;  // frees, by id of requests_ and cache

  InternTable<Source> sources_;
  std::vector<std::uint32_t> id_of_source_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::string> names_;
};

}  // namespace kmt
