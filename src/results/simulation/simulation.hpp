// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `simulate`: the memory that models of slab allocators hold for a trace's objects. The definitions are
// those of docs/formats/simulate-json.md. Bytes, unless said.
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
  std::uint64_t requested = 0;  // by live objects of the trace
  std::uint64_t given = 0;      // to them
  std::uint64_t held = 0;       // pages

  std::uint64_t internal_waste() const { return given - requested; }
  std::uint64_t external_waste() const { return held - given; }
};

struct SimulatedCache {
  std::string name;
  bool is_new = false;             // made for call sites, or a suggested class; not of --classes
  std::uint64_t object_bytes = 0;  // 0: of several sizes
  std::uint64_t slab_bytes = 0;    // 0: whole pages, as many as an object needs
  std::uint32_t objects_per_slab = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;  // of all allocations
  std::uint64_t bytes_given = 0;
  HeldMemory average;  // over the time of the trace
  HeldMemory peak;     // when most was held
  HeldMemory end;
  std::uint64_t partial_slabs = 0;   // at the end: on lists, with free objects
  std::uint64_t cpu_list_bytes = 0;  // that the CPUs can hold in reserve at most, together
};

struct SimulatedHeap {
  std::string name;  // "as recorded"
  SlabAllocator allocator = SlabAllocator::slub;
  std::vector<std::string> unused_caches;  // "alloc_pipe_info=10": for call sites, and nothing goes to them
  std::vector<SimulatedCache> caches;      // new ones first, then most memory at their peaks
  std::uint64_t allocations = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_given = 0;
  HeldMemory average;
  HeldMemory peak;
  std::uint64_t peak_ns = 0;
  HeldMemory end;
  std::vector<HeldMemory> series;  // at the end of each bucket
};

// Bytes: smaller savings do not justify a cache.
inline constexpr std::uint64_t kLeastSaving = 4096;

// A cache or a class that the kernel does not have.
struct CacheSuggestion {
  std::string function;            // the cache is for its allocations; empty: a size class for all functions
  std::uint64_t above_bytes = 0;   // requests of more than that
  std::uint64_t object_bytes = 0;  // up to this
  std::uint64_t class_bytes = 0;   // their present size
  std::vector<std::string> from;   // recorded caches that lose them
  std::vector<std::string> sites;  // of a class: who uses it most
  std::uint64_t allocations = 0;
  std::uint64_t bytes_given = 0;       // as recorded
  std::uint64_t bytes_given_then = 0;  // with the cache
  std::uint64_t average_live = 0;      // objects
  std::uint64_t of_its_size = 0;       // of these, that ask for just as much as an object has, rounded up to 8
  double estimated_saving = 0;         // why it was replayed: bytes of average held memory, or of all given
  // The caches that lose objects, and the new one, replayed.
  std::uint64_t average_held = 0;
  std::uint64_t average_held_then = 0;
  std::uint64_t peak_held = 0;  // sums of the caches' own peaks
  std::uint64_t peak_held_then = 0;
  std::uint64_t uncertain_bytes = 0;  // of the saving: what the CPUs' lists may hold
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

// How the kernel's own slabinfo compares with the model.
struct SlabinfoComparison {
  bool by_size = false;                 // no event names a cache: "caches" are all of one object size
  std::uint64_t caches = 0;             // that have slabs before or after
  std::uint64_t geometry_compared = 0;  // caches, with slabs or without
  std::vector<std::string> geometry_differs;
  std::uint64_t pages_before = 0;
  std::uint64_t pages_after = 0;
  std::uint64_t pages_predicted = 0;
  std::uint64_t error_pages = 0;      // of each cache's prediction, added up
  std::uint64_t unchanged_error = 0;  // the same of the prediction that nothing changes
  std::uint64_t unknown_frees = 0;    // of older objects, of which the cache is not known
  std::uint64_t not_compared = 0;     // caches with slabs after: new ones, or of figures that no slabs have
  std::vector<SlabinfoCache> lines;   // that changed, or should have; largest error first
};

// Objects of a cache whose end is known only because their address was allocated again.
struct UnseenFrees {
  std::string cache;
  std::uint64_t objects = 0;
  std::uint64_t allocations = 0;  // in all
};

inline std::uint64_t sum_of_objects(const std::vector<UnseenFrees>& caches) {
  std::uint64_t objects = 0;
  for (const UnseenFrees& cache : caches) objects += cache.objects;
  return objects;
}

struct SimulationResult {
  TraceSummary trace;
  Findings findings;
  std::vector<std::uint64_t> classes;  // of the recorded kernel's kmalloc, as the model has them
  std::string least_class_from;        // "the architecture", "slabinfo", "the trace"
  bool kernel_known = true;            // false: taken to be Linux 6.1
  bool cgroup_caches = false;
  bool random_caches = false;
  bool caches_assumed = false;  // no slabinfo says so
  std::uint64_t start_ns = 0;
  std::uint64_t bucket_ns = 0;
  std::vector<SimulatedHeap> heaps;  // as recorded first
  std::vector<CacheSuggestion> suggestions;
  bool suggests_traffic = false;  // chosen by what is given, not by what is held
  // That were replayed, of which the suggestions are the best; empty: none were looked for, or not to the trace's end.
  std::optional<std::size_t> candidates;
  std::uint64_t kmallocs = 0;
  std::uint64_t kmallocs_reproduced = 0;  // bytes as predicted
  std::vector<ModelMismatch> mismatches;  // most allocations first
  std::optional<SlabinfoComparison> slabinfo;
  std::uint64_t older_frees = 0;          // of objects that were not allocated in the trace
  std::uint64_t live_at_end = 0;          // objects
  std::vector<UnseenFrees> unseen_frees;  // most objects first
  std::uint64_t unnamed_objects = 0;      // of caches whose names are not known
};

}  // namespace kmt
