// SPDX-License-Identifier: GPL-2.0-or-later
// Simulates one allocator for a trace: chooses the cache of each kind of object, and computes the memory held for the
// objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/slab_heap.hpp"
#include "results/simulation/simulation.hpp"

namespace kmt {

// A cache for the kmalloc objects of one function, or a size class for all kmalloc objects. If several entries match an
// object, the first one is used. Objects that fit into a smaller class are allocated from that class.
struct SiteCache {
  std::string glob;               // glob for the symbol or function of call sites; empty: a class for all objects
  std::uint64_t above_bytes = 0;  // only requests larger than this, in bytes
  std::uint64_t most_bytes = 0;   // only requests of at most this size, in bytes
};

struct SlabLayout {
  std::string name;
  SlabAllocator allocator = SlabAllocator::slub;
  std::vector<std::uint64_t> classes;  // kmalloc classes; empty: those of the recorded kernel
  std::vector<SiteCache> site_caches;
  std::set<std::string, std::less<>> only;  // only objects of these recorded caches are simulated; empty: all objects
};

// Returns the prefix of a kmalloc cache's name, which depends on the GFP flags: "kmalloc-cg-".
std::string_view kmalloc_prefix(std::string_view cache);

// choose_random_cache() adds the number of a random cache to the cache name. Since Linux 6.6, kmalloc can choose among
// several caches by call site, using a secret of the running kernel. The model does not know this secret, and chooses
// randomly among as many caches.
constexpr std::uint64_t kRandomCaches = 16;  // usual value of RANDOM_KMALLOC_CACHES_NR
void choose_random_cache(ObjectKind& kind, std::uint64_t call_site, const SlabMachine& machine);
// Returns the name without the number of a random cache.
std::string_view without_random(std::string_view cache);

// The cache from which objects of one kind are allocated.
struct CacheChoice {
  std::string cache;
  std::uint64_t bytes = 0;
  bool pages = false;               // the object has pages of its own instead of a slab
  std::optional<std::size_t> site;  // index in SlabLayout::site_caches
};
CacheChoice choose_cache(const SlabLayout& layout, const ObjectKind& kind, const std::string& symbol,
                         const SlabMachine& machine);

// Integrates a changing value over time (value × nanoseconds).
class TimeIntegral {
 public:
  __extension__ using Sum = unsigned __int128;
  void change(std::uint64_t by, std::uint64_t ns) { before_ += Sum{by} * ns; }
  void change_back(std::uint64_t by, std::uint64_t ns) { before_ -= Sum{by} * ns; }
  // Returns the average, rounded down, in units of 1/scale. `value` is the value at the end.
  std::uint64_t average(std::uint64_t value, std::uint64_t end_ns, std::uint64_t scale = 1) const {
    return end_ns == 0 ? value * scale : static_cast<std::uint64_t>((Sum{value} * end_ns - before_) * scale / end_ns);
  }

 private:
  Sum before_ = 0;  // computed modulo 2^128
};

class HeapSimulation {
 public:
  // `keeps_series` is true if the result needs memory over time.
  HeapSimulation(SlabLayout layout, const SlabMachine& machine, bool keeps_series);

  // Adds a kind of object. Call this once for each kind, in the order of their numbers. `symbol` is the symbol of its
  // call site. Returns false if this heap has no objects of this kind.
  bool kind(const ObjectKind& kind, const std::string& symbol);
  // Allocates an object. `ns` is the time since the start of the trace; it must not decrease.
  void began(std::uint32_t object, std::uint32_t kind, std::uint64_t ns, unsigned cpu, int node, bool again);
  void ended(std::uint32_t object, std::uint32_t kind, std::uint64_t ns, unsigned cpu);

  SimulatedHeap result(std::uint64_t end_ns) const;
  // Returns the width of the buckets of the series.
  std::uint64_t bucket_ns() const { return std::uint64_t{1} << shift_; }
  const SlabLayout& layout() const { return layout_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Kind {
    std::uint32_t cache = kNone;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
  };
  struct Integrals {
    TimeIntegral requested;
    TimeIntegral given;
    TimeIntegral held;
    HeldMemory average(const HeldMemory& end, std::uint64_t end_ns) const;
  };
  struct Cache {
    SimulatedCache account;  // the member `end` contains the current values while the replay runs
    Integrals integrals;
    std::unique_ptr<SlabHeap> own_heap;
    SlabHeap* heap = nullptr;  // own_heap; for SLOB, the heap that all caches share
  };

  std::uint32_t cache_of(const CacheChoice& choice);
  void book_held(Cache& cache, std::uint64_t before, std::uint64_t ns);
  void reach(std::uint64_t ns);

  SlabLayout layout_;
  const SlabMachine& machine_;
  std::unique_ptr<SlabHeap> shared_heap_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> places_;  // index: object; value: result of SlabHeap::allocate()
  std::vector<Cache> caches_;
  std::map<std::string, std::uint32_t> cache_ids_;
  HeldMemory now_;
  HeldMemory peak_;
  std::uint64_t peak_ns_ = 0;
  bool keeps_series_;
  unsigned shift_ = 10;
  std::vector<HeldMemory> series_;
  std::vector<bool> site_is_used_;  // index: the same as in SlabLayout::site_caches
};

}  // namespace kmt
