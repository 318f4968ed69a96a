// SPDX-License-Identifier: GPL-2.0-or-later
// One what-if: which cache each kind of object comes from, and the memory that an allocator's model holds for them.
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

// A cache for the kmalloc objects of one function; or a class for all, which takes the first that fit. Objects that fit
// a smaller class stay there.
struct SiteCache {
  std::string glob;               // of the call site's symbol or function; empty: a class for all
  std::uint64_t above_bytes = 0;  // requests of more than that
  std::uint64_t most_bytes = 0;   // up to this
};

struct SlabLayout {
  std::string name;
  SlabAllocator allocator = SlabAllocator::slub;
  std::vector<std::uint64_t> classes;  // of kmalloc; empty: as recorded
  std::vector<SiteCache> site_caches;
  std::set<std::string, std::less<>> only;  // recorded caches whose objects are followed; empty: all
};

// Returns the prefix of the recorded cache's name if kmalloc has caches by GFP flags: "kmalloc-cg-".
std::string_view kmalloc_prefix(std::string_view cache);

// Which of the caches that kmalloc chooses from by call site, since Linux 6.6, is a secret of the running kernel. Here
// as many are chosen from as evenly; the cache's name then says which.
constexpr std::uint64_t kRandomCaches = 16;  // RANDOM_KMALLOC_CACHES_NR, and the usual one
void choose_random_cache(ObjectKind& kind, std::uint64_t call_site, const SlabMachine& machine);
// The name without that.
std::string_view without_random(std::string_view cache);

// Where an object of a kind is put.
struct CacheChoice {
  std::string cache;
  std::uint64_t bytes = 0;
  bool pages = false;               // of its own
  std::optional<std::size_t> site;  // of the layout's site caches
};
CacheChoice choose_cache(const SlabLayout& layout, const ObjectKind& kind, const std::string& symbol,
                         const SlabMachine& machine);

// The sum over time of a value that changes, in value times nanoseconds.
class TimeIntegral {
 public:
  __extension__ using Sum = unsigned __int128;
  void change(std::uint64_t by, std::uint64_t ns) { before_ += Sum{by} * ns; }
  void change_back(std::uint64_t by, std::uint64_t ns) { before_ -= Sum{by} * ns; }
  // Rounded down, in parts of 1/scale; `value` is that at the end.
  std::uint64_t average(std::uint64_t value, std::uint64_t end_ns, std::uint64_t scale = 1) const {
    return end_ns == 0 ? value * scale : static_cast<std::uint64_t>((Sum{value} * end_ns - before_) * scale / end_ns);
  }

 private:
  Sum before_ = 0;  // modulo 2^128
};

class HeapSimulation {
 public:
  // `keeps_series`: how memory went over time is wanted too.
  HeapSimulation(SlabLayout layout, const SlabMachine& machine, bool keeps_series);

  // Kinds in the order of their numbers; `symbol` of its call site.
  void kind(const ObjectKind& kind, const std::string& symbol);
  // `ns` from the start of the trace, never less than before.
  void began(std::uint32_t object, std::uint32_t kind, std::uint64_t ns, unsigned cpu, int node, bool again);
  void ended(std::uint32_t object, std::uint32_t kind, std::uint64_t ns, unsigned cpu);

  SimulatedHeap result(std::uint64_t end_ns) const;
  // The width of the series' buckets.
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
    SimulatedCache account;  // `end` is what is now
    Integrals integrals;
    std::unique_ptr<SlabHeap> own_heap;
    SlabHeap* heap = nullptr;  // SLOB's is that of all
  };

  std::uint32_t cache_of(const CacheChoice& choice);
  void book_held(Cache& cache, std::uint64_t before, std::uint64_t ns);
  void reach(std::uint64_t ns);

  SlabLayout layout_;
  const SlabMachine& machine_;
  std::unique_ptr<SlabHeap> shared_heap_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> places_;  // by object
  std::vector<Cache> caches_;
  std::map<std::string, std::uint32_t> cache_ids_;
  HeldMemory now_;
  HeldMemory peak_;
  std::uint64_t peak_ns_ = 0;
  bool keeps_series_;
  unsigned shift_ = 10;
  std::vector<HeldMemory> series_;
  std::vector<bool> site_is_used_;  // by the layout's site caches
};

}  // namespace kmt
