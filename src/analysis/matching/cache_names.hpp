// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the slab cache of an allocation. Since Linux 7, kmem_cache_alloc events name the cache. In Linux 5.12 to 6.x,
// only the free event of an object names the cache, so a separate pass learns the names from frees. This works because
// a call site nearly always allocates objects of one size from the same cache, except from mempools. kmalloc objects
// get a name from their size and kind, like the kernel's caches in mm/slab_common.c.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "base/intern_table.hpp"
#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CacheNames {
 public:
  // `info` must outlive this object. It belongs to the trace that contains the looked-up allocations.
  explicit CacheNames(const TraceInfo& info);

  // Assumes that caches for control groups exist, for traces without slabinfo. Call this before all other functions.
  void take_cgroup_caches_for_given();
  // Learns the names of caches from the frees. Call this with all events of the trace in their order. `info` belongs to
  // the reader of these events.
  void learn(const EventBatch& batch, const TraceInfo& info);
  // Learns from frees that the caller has counted. The objects were allocated by kmem_cache_alloc with this call site
  // and size, and their free events name `cache`. The IDs belong to the `info` of this object.
  void learn(CallSiteId call_site, std::uint64_t bytes_allocated, CacheId cache, std::uint64_t frees);
  // Takes over what `other` learned from the same trace.
  void take_learned(const CacheNames& other);
  // Frees the memory that only learn() needs.
  void end_learning() {
    live_ = {};
    recent_requests_ = {};
    recent_frees_ = {};
  }
  // True if allocation events name the cache. Then names need not be learned from frees.
  bool named_by_allocations() const { return named_by_allocations_; }

  // Returns an ID for the cache of a slab allocation. Equal names have equal IDs.
  std::uint32_t id_of(const Event& event);
  // Returns the name of a cache; empty if unknown. If objects of one call site and size belong to several caches, the
  // result lists each cache with at least a tenth of these objects: "bio-120|bio-184".
  const std::string& operator[](std::uint32_t id) const { return names_[id]; }
  // Returns the name of the cache of an object of kmem_cache_alloc, as operator[] does. `cache` is from the event of
  // the allocation.
  std::string name_of(CallSiteId call_site, std::uint64_t bytes_allocated, CacheId cache) const {
    return name_of({bytes_allocated, call_site.value, cache.value});
  }
  // True if kmalloc allocates the object from a reclaimable cache, kmalloc-rcl-*.
  bool is_reclaimable_kmalloc(const Event& event) const { return kind_of(event.gfp_flags) == KmallocKind::reclaimable; }

 private:
  struct Request {
    std::uint64_t call_site;  // address of the call site
    std::uint64_t bytes;      // size of the object
  };
  struct Source {  // Properties of an allocation that determine the name of its cache.
    std::uint64_t bytes;
    std::uint32_t call_site;
    std::uint32_t cache;  // cache ID in the event; for kmalloc, kKmalloc minus the KmallocKind
  };
  static constexpr std::uint32_t kKmalloc = ~0u;
  enum class KmallocKind : std::uint8_t { normal, cgroup, reclaimable, dma };
  // The last result of a look-up, which the next look-up nearly always repeats.
  struct RecentRequest {
    std::uint64_t bytes = 0;
    std::uint32_t id = ~0u;
  };
  struct RecentFree {
    std::uint32_t cache = 0;         // cache ID in the event
    std::uint64_t* count = nullptr;  // points into learned_
  };
  std::uint32_t request_of(const Event& event, const TraceInfo& info);
  void count_free(std::uint32_t request, std::uint32_t cache, const TraceInfo& info);
  std::uint32_t flag(std::string_view name) const;
  KmallocKind kind_of(std::uint32_t gfp_flags) const;
  std::string name_of(const Source& source) const;
  std::string kmalloc_name(std::uint64_t bytes, KmallocKind kind) const;
  std::uint64_t kmalloc_size(const Event& event) const;

  const TraceInfo& info_;
  std::uint32_t account_flag_ = 0;  // the flag __GFP_ACCOUNT; 0 if the kernel has no caches for accounted memory
  std::uint32_t reclaimable_flag_ = 0;
  std::uint32_t dma_flag_ = 0;
  bool short_sizes_ = true;  // true: names such as "kmalloc-1k"; false: "kmalloc-1024"
  // Key: the size in the name of a kmalloc cache. Value: the object sizes that slabinfo shows for caches with this size
  // in their names. Empty unless slub_debug makes some objects larger than the name says.
  std::map<std::uint64_t, std::set<std::uint64_t>> kmalloc_sizes_;
  bool named_by_allocations_ = false;
  // Only used while learning. Key: address of a live object. Value: an ID in requests_. A free removes the address, so
  // that the table stays small.
  FlatMap<std::uint32_t> live_;
  InternTable<Request> requests_;
  std::vector<RecentRequest> recent_requests_;  // only used while learning; index: a CallSiteId
  std::vector<RecentFree> recent_frees_;        // only used while learning; index: an ID in requests_
  // By ID in requests_: number of frees for each name of a cache.
  std::map<std::uint32_t, std::map<std::string, std::uint64_t>> learned_;

  InternTable<Source> sources_;
  std::vector<std::uint32_t> id_of_source_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::string> names_;
};

}  // namespace kmt
