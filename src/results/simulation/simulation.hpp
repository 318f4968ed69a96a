// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `simulate`: the memory that models of slab allocators hold for a trace's objects. Numbers are bytes
// unless stated otherwise. docs/formats/simulate-json.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

enum class SlabAllocator : std::uint8_t { slub, slab, slob };
constexpr std::string_view name_of(SlabAllocator allocator) {
  return allocator == SlabAllocator::slub ? "slub" : allocator == SlabAllocator::slab ? "slab" : "slob";
}

struct HeldMemory {
  std::uint64_t requested = 0;  // requested by live objects of the trace
  std::uint64_t given = 0;      // given to these objects
  std::uint64_t held = 0;       // bytes of slab pages

  std::uint64_t internal_waste() const { return given - requested; }
  std::uint64_t external_waste() const { return held - given; }
};

struct SimulatedCache {
  std::string name;
  bool is_new = false;             // a cache for call sites or a suggested class, but not a class of --classes
  std::uint64_t object_bytes = 0;  // 0: objects have several sizes
  std::uint64_t slab_bytes = 0;    // 0: an object has its own pages
  std::uint32_t objects_per_slab = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;  // sum over all allocations
  std::uint64_t bytes_given = 0;
  HeldMemory average;  // mean over the time of the trace
  HeldMemory peak;     // at the time when most memory was held
  HeldMemory end;
  std::uint64_t partial_slabs = 0;   // slabs with free objects on lists, at the end
  std::uint64_t cpu_list_bytes = 0;  // most bytes that all CPUs together can hold in reserve
};

struct SimulatedHeap {
  std::string name;  // "as recorded"
  SlabAllocator allocator = SlabAllocator::slub;
  std::vector<std::string> unused_caches;  // caches for call sites that get no objects: "alloc_pipe_info=10"
  std::vector<SimulatedCache> caches;      // new caches first, then by held memory at the peak
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_given = 0;
  HeldMemory average;
  HeldMemory peak;
  std::uint64_t peak_ns = 0;
  HeldMemory end;
  std::vector<HeldMemory> series;  // values at the end of each bucket
};

// In bytes. Smaller savings do not justify a cache.
inline constexpr std::uint64_t kLeastSaving = 4096;

// A suggestion for a new cache or size class.
struct CacheSuggestion {
  std::string function;            // function whose allocations use the cache; empty: a size class for all functions
  std::uint64_t above_bytes = 0;   // requests must be larger than this
  std::uint64_t object_bytes = 0;  // object size and largest request
  std::uint64_t class_bytes = 0;   // size that these requests get now
  std::vector<std::string> from;   // recorded caches that lose these objects
  std::vector<std::string> sites;  // for a class, the call sites that use it most
  std::uint64_t allocations = 0;
  std::uint64_t bytes_given = 0;       // bytes given as recorded
  std::uint64_t bytes_given_then = 0;  // bytes given with the new cache
  std::uint64_t average_live = 0;      // mean number of live objects
  std::uint64_t of_its_size = 0;  // mean number of live objects whose request, rounded up to 8, equals object_bytes
  double estimated_saving = 0;  // reason for the replay: estimated saving of average held memory, or of all bytes given
  // Sums over the caches that lose objects and the new cache, from replays.
  std::uint64_t average_held = 0;
  std::uint64_t average_held_then = 0;
  std::uint64_t peak_held = 0;  // sum of the caches' peaks
  std::uint64_t peak_held_then = 0;
  std::uint64_t uncertain_bytes = 0;  // part of the saving that depends on the per-CPU lists
};

struct ModelMismatch {
  std::string site;
  std::uint64_t requested = 0;
  std::uint64_t recorded = 0;
  std::uint64_t predicted = 0;
  std::uint64_t allocations = 0;
};

struct SlabinfoCache {
  std::string name;
  std::uint64_t pages_before = 0;
  std::uint64_t pages_after = 0;
  std::uint64_t pages_predicted = 0;
};

// Comparison of the model with the kernel's slabinfo.
struct SlabinfoComparison {
  bool by_size = false;      // events do not name caches: all caches with one object size are compared as one
  std::uint64_t caches = 0;  // number of caches with slabs before or after the trace
  std::uint64_t geometry_compared = 0;  // number of caches, with or without slabs
  std::vector<std::string> geometry_differs;
  std::uint64_t pages_before = 0;
  std::uint64_t pages_after = 0;
  std::uint64_t pages_predicted = 0;
  std::uint64_t error_pages = 0;      // sum of the prediction errors of the caches
  std::uint64_t unchanged_error = 0;  // the same sum for the prediction of no change
  std::uint64_t unknown_frees = 0;    // frees of objects from before the trace whose cache is unknown
  std::uint64_t not_compared = 0;     // caches with slabs after the trace that are new or have inconsistent figures
  std::vector<SlabinfoCache> lines;   // caches that changed or should have changed; largest error first
};

// Objects of a cache whose free was not traced; their address was allocated again.
struct UnseenFrees {
  std::string cache;
  std::uint64_t objects = 0;
  std::uint64_t allocations = 0;  // all allocations of the cache
};

inline std::uint64_t sum_of_objects(const std::vector<UnseenFrees>& caches) {
  std::uint64_t objects = 0;
  for (const UnseenFrees& cache : caches) objects += cache.objects;
  return objects;
}

struct SimulationResult {
  TraceSummary trace;
  Findings findings;
  std::vector<std::uint64_t> classes;  // the modelled kmalloc size classes of the recorded kernel
  std::string least_class_from;        // source of the smallest class: "the architecture", "slabinfo", "the trace"
  bool kernel_known = true;            // false: treated as Linux 6.1
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;  // the two members above are assumptions, because there is no slabinfo
  std::uint64_t start_ns = 0;
  std::uint64_t bucket_ns = 0;
  std::vector<SimulatedHeap> heaps;  // the recorded heap first
  std::vector<CacheSuggestion> suggestions;
  bool suggests_traffic = false;  // true: suggestions save bytes given; false: held memory
  // Number of replayed candidates; `suggestions` are the best of them. Empty: no candidates were searched, or the
  // search did not reach the end of the trace.
  std::optional<std::size_t> candidates;
  std::uint64_t kmallocs = 0;
  std::uint64_t kmallocs_reproduced = 0;  // kmallocs whose given bytes were predicted correctly
  std::vector<ModelMismatch> mismatches;  // most allocations first
  std::optional<SlabinfoComparison> slabinfo;
  std::uint64_t older_frees = 0;          // frees of objects from before the trace
  std::uint64_t live_at_end = 0;          // number of live objects
  std::vector<UnseenFrees> unseen_frees;  // most objects first
  std::uint64_t unnamed_objects = 0;      // objects in caches with unknown names
};

}  // namespace kmt
