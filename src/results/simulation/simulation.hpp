// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `simulate`: the memory that models of slab allocators need for the objects of a trace. Numbers are
// bytes unless a comment names another unit. docs/formats/simulate-json.md has the definitions.
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
  std::uint64_t requested = 0;  // bytes requested for the live objects of the trace
  std::uint64_t given = 0;      // bytes allocated for these objects, including internal waste
  std::uint64_t held = 0;       // bytes of slab pages

  std::uint64_t internal_waste() const { return given - requested; }
  std::uint64_t external_waste() const { return held - given; }
};

struct SimulatedCache {
  std::string name;
  // True: a new cache for the objects of call sites, or a suggested class. False for classes given with --classes.
  bool is_new = false;
  std::uint64_t object_bytes = 0;  // size of an object in bytes; 0: the objects have several sizes
  std::uint64_t slab_bytes = 0;    // size of a slab in bytes; 0: each object has pages of its own
  std::uint32_t objects_per_slab = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;  // bytes requested, summed over all allocations
  std::uint64_t bytes_given = 0;
  HeldMemory average;  // mean over the time of the trace
  HeldMemory peak;     // values at the time when most memory was held
  HeldMemory end;
  // Number of slabs that have free objects and are on a list at the end of the trace.
  std::uint64_t partial_slabs = 0;
  std::uint64_t cpu_list_bytes = 0;  // maximum number of bytes that the lists of all CPUs together can hold
};

struct SimulatedHeap {
  std::string name;  // "as recorded" or, with changes, "asked for"
  SlabAllocator allocator = SlabAllocator::slub;
  // Caches that were requested for call sites, but got no objects: "alloc_pipe_info=10".
  std::vector<std::string> unused_caches;
  // New caches are first. All other caches are sorted by memory held at the peak, the largest first.
  std::vector<SimulatedCache> caches;
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_given = 0;
  HeldMemory average;
  HeldMemory peak;
  std::uint64_t peak_ns = 0;
  HeldMemory end;
  std::vector<HeldMemory> series;  // memory at the end of each time bucket
};

// A new cache is suggested only if it saves at least this many bytes.
inline constexpr std::uint64_t kLeastSaving = 4096;

// A suggestion for a new cache or size class.
struct CacheSuggestion {
  std::string function;            // function whose objects get the new cache; empty: a size class for all functions
  std::uint64_t above_bytes = 0;   // only requests larger than this, in bytes, use the new cache
  std::uint64_t object_bytes = 0;  // object size of the new cache, and largest request that uses it
  std::uint64_t class_bytes = 0;   // bytes that the recorded kernel allocates for each of these requests
  std::vector<std::string> from;   // names of the recorded caches from which these objects come
  std::vector<std::string> sites;  // only for a class: the call sites that would use the class most
  std::uint64_t allocations = 0;
  std::uint64_t bytes_given = 0;       // bytes allocated for these objects in the trace
  std::uint64_t bytes_given_then = 0;  // bytes allocated for these objects with the new cache
  std::uint64_t average_live = 0;      // mean number of live objects
  // Mean number of live objects whose request, rounded up to a multiple of 8, equals object_bytes.
  std::uint64_t of_its_size = 0;
  // Estimated saving in bytes: of memory held on average, or of allocated bytes. The estimate decides which candidates
  // are replayed.
  double estimated_saving = 0;
  // The members below are from replays. They are sums over the caches that lose objects to the new cache. Members that
  // end in `_then` are from a replay with the new cache, and their sums include this cache.
  std::uint64_t average_held = 0;
  std::uint64_t average_held_then = 0;
  std::uint64_t peak_held = 0;  // sum of the peaks of these caches
  std::uint64_t peak_held_then = 0;
  // Uncertainty of the saving in bytes. It is caused by the per-CPU lists.
  std::uint64_t uncertain_bytes = 0;
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
  // Since Linux 6.18: number of pages that the free objects in the cache's sheaves can fill. The prediction may differ
  // by this much, because the trace does not show which objects were in sheaves when it began.
  std::uint64_t sheaf_pages = 0;
};

// Comparison of the model's prediction with the kernel's slabinfo.
struct SlabinfoComparison {
  // True: events do not name caches, so caches with one object size are compared as one cache.
  bool by_size = false;
  std::uint64_t caches = 0;  // number of caches with slabs before or after the trace
  // Number of caches whose objects per slab and slab size were compared. Includes caches without slabs.
  std::uint64_t geometry_compared = 0;
  std::vector<std::string> geometry_differs;
  std::uint64_t pages_before = 0;
  std::uint64_t pages_after = 0;
  std::uint64_t pages_predicted = 0;
  std::uint64_t error_pages = 0;       // sum of the errors of the prediction over all caches, in pages
  std::uint64_t error_in_sheaves = 0;  // the part of error_pages that sheaves may explain
  std::uint64_t unchanged_error = 0;   // like error_pages, for the simple prediction that no number of slabs changes
  // Number of frees of objects that were allocated before the trace and whose cache is unknown.
  std::uint64_t unknown_frees = 0;
  // Number of caches with slabs after the trace that are new or have contradictory numbers.
  std::uint64_t not_compared = 0;
  // Caches whose number of pages changed, or should have changed according to the model; largest error first.
  std::vector<SlabinfoCache> lines;
};

// Number of objects of one cache that were freed without an event: their addresses were allocated again.
struct UnseenFrees {
  std::string cache;
  std::uint64_t objects = 0;
  std::uint64_t allocations = 0;  // number of all allocations from the cache
};

inline std::uint64_t sum_of_objects(const std::vector<UnseenFrees>& caches) {
  std::uint64_t objects = 0;
  for (const UnseenFrees& cache : caches) objects += cache.objects;
  return objects;
}

struct SimulationResult {
  TraceSummary trace;
  Findings findings;
  // Sizes of the kmalloc caches that the recorded kernel has according to the model.
  std::vector<std::uint64_t> classes;
  std::string least_class_from;  // source of the smallest class: "the architecture", "slabinfo", "the trace"
  bool kernel_known = true;      // false: the kernel's version is unknown, and Linux 6.1 is assumed
  bool has_sheaves = false;      // true: the model of Linux 7.0 and later; false: the model of Linux 5.10 to 6.18
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;  // true: cgroup_caches and random_caches are assumptions, because there is no slabinfo
  std::uint64_t start_ns = 0;
  std::uint64_t bucket_ns = 0;
  std::vector<SimulatedHeap> heaps;  // the first heap has no changes, and its name is "as recorded"
  std::vector<CacheSuggestion> suggestions;
  bool suggests_traffic = false;  // true: suggestions save allocated bytes; false: they save held memory
  // Number of candidates that were replayed; `suggestions` are the best of them. Empty if no suggestions were
  // requested, or if reading was interrupted.
  std::optional<std::size_t> candidates;
  std::uint64_t kmallocs = 0;
  // Number of kmallocs for which the model predicts exactly the recorded bytes.
  std::uint64_t kmallocs_reproduced = 0;
  std::vector<ModelMismatch> mismatches;  // most allocations first
  std::optional<SlabinfoComparison> slabinfo;
  std::uint64_t older_frees = 0;          // number of frees of objects that were allocated before the trace
  std::uint64_t live_at_end = 0;          // number of objects that are live at the end of the trace
  std::vector<UnseenFrees> unseen_frees;  // most objects first
  std::uint64_t unnamed_objects = 0;      // number of objects whose cache has no known name
};

}  // namespace kmt
