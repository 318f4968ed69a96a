// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/watch/cache_tables.hpp"

#include <map>
#include <string>
#include <utility>

#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/cache_counters.h"
#include "capture/features/call_tracing.hpp"
#include "capture/tracefs/mount.hpp"

namespace kmt {

namespace {

bool is_free_event(std::size_t event) {
  return event == KMT_SLAB_kfree || event == KMT_SLAB_kmem_cache_free || event >= KMT_SLAB_free_bulk;
}

// True if BPF programs can be attached to kernel functions. Otherwise, the kernel refuses to load such programs.
bool traces_functions() {
  try {
    return why_no_functions(find_tracefs().path).empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool CacheTables::prepare(bpf_map* map, std::size_t cpus, CacheRequest request, const KernelTypes& types,
                          std::vector<PathProgram> paths) {
  map_ = map;
  if (request.counts)
    counting_ = types.offers_function("bpf_get_kmem_cache") ? CacheCounting::counted : CacheCounting::unsupported;
  const bool counts = counting_ == CacheCounting::counted;
  entries_ = counts ? cpus * KMT_SLAB_EVENTS * KMT_COUNTED_CACHES : 0;
  bpf_map__set_max_entries(map, counts ? static_cast<unsigned>(entries_) : 1);
  const bool can_trace = counts && request.probes && traces_functions();
  uncounted_.reason = request.probes ? "the kernel allows no BPF program there" : "--no-probes";
  for (PathProgram& path : paths) {
    // Linux 6.18 has this function by another name.
    if (path.function == kNolockAllocFunction && !types.has_function(path.function))
      path.function = kOldNolockAllocFunction;
    const bool exists = counts && types.has_function(path.function);
    bpf_program__set_autoload(path.program, exists && can_trace);
    if (exists && !can_trace) uncounted_.functions.push_back(path.function);
    if (!exists || !can_trace) continue;
    bpf_program__set_attach_target(path.program, 0, path.function.c_str());
    paths_.push_back(std::move(path));
  }
  return counts;
}

void CacheTables::open() {
  if (entries_ > 0) memory_ = MappedArray(bpf_map__fd(map_), entries_ * sizeof(kmt_cache_counter));
}

std::uint64_t CacheTables::missed_calls() const {
  std::uint64_t sum = 0;
  for (const PathProgram& path : paths_) sum += missed_runs(path.program);
  return sum;
}

CacheCounts CacheTables::read(std::uint64_t uncounted_objects) const {
  std::map<std::pair<std::string, std::uint32_t>, CacheCount> caches;
  const auto* const counters = memory_.as<const volatile kmt_cache_counter>();
  for (std::size_t i = 0; i < entries_; ++i) {
    const std::uint64_t objects = counters[i].objects;
    if (objects == 0) continue;
    kmt_cache_counter counter{};
    // A program that is writing a new entry sets `objects` last.
    for (std::size_t c = 0; c + 1 < sizeof counter.name; ++c) counter.name[c] = counters[i].name[c];
    const std::uint32_t object_bytes = counters[i].object_bytes;
    CacheCount& count = caches[{counter.name, object_bytes}];
    count.name = counter.name;
    count.object_bytes = object_bytes;
    (is_free_event(i / KMT_COUNTED_CACHES % KMT_SLAB_EVENTS) ? count.frees : count.allocations) += objects;
  }
  CacheCounts counts;
  counts.counting = counting_;
  counts.uncounted = uncounted_;
  counts.uncounted.objects = uncounted_objects;
  counts.uncounted.missed_calls = missed_calls();
  if (counts.uncounted.functions.empty()) counts.uncounted.reason.clear();
  counts.rows.reserve(caches.size());
  for (auto& [key, count] : caches) counts.rows.push_back(std::move(count));
  return counts;
}

}  // namespace kmt
