// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/simulated_heap.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/slab_account.hpp"
#include "analysis/simulation/slab_array_heap.hpp"
#include "analysis/simulation/slob_heap.hpp"
#include "analysis/simulation/slub_cache.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {
constexpr std::string_view kRandomMark = " (random ";
}

std::string_view kmalloc_prefix(std::string_view cache) {
  for (const std::string_view prefix : {"kmalloc-cg-", "kmalloc-rcl-", "dma-kmalloc-"})
    if (cache.starts_with(prefix)) return prefix;
  return "kmalloc-";
}

void choose_random_cache(ObjectKind& kind, std::uint64_t call_site, const SlabMachine& machine) {
  const Origin& origin = kind.origin;
  if (origin.allocator != Allocator::slab || origin.from_cache || kmalloc_prefix(kind.cache) != "kmalloc-" ||
      is_large_kmalloc(EventKind::kmalloc, origin.bytes_allocated, machine.page_bytes))
    return;
  const std::uint64_t random = (call_site * 0x9E3779B97F4A7C15ull) >> 60;
  kind.cache += fmt::format("{}{})", kRandomMark, random % kRandomCaches);
}

std::string_view without_random(std::string_view cache) { return cache.substr(0, cache.find(kRandomMark)); }

namespace {

// Returns the name of the cache for an object in a class. The name has the prefix and suffix of the object's recorded
// cache ("kmalloc-cg-"), even if the kernel does not have the class.
std::string class_cache(const ObjectKind& kind, std::uint64_t bytes) {
  return fmt::format("{}{}{}", kmalloc_prefix(kind.cache), class_name(bytes),
                     kind.cache.substr(without_random(kind.cache).size()));
}

CacheChoice choose_class(const SlabLayout& layout, const ObjectKind& kind, const SlabMachine& machine) {
  const Origin& origin = kind.origin;
  if (layout.classes.empty())
    return {kind.cache, origin.bytes_allocated,
            is_large_kmalloc(EventKind::kmalloc, origin.bytes_allocated, machine.page_bytes)};
  const std::uint64_t bytes = kmalloc_bytes(origin.bytes_requested, layout.classes, machine);
  if (bytes > layout.classes.back()) return {"large kmalloc", bytes, true};
  return {class_cache(kind, bytes), bytes, false};
}

}  // namespace

CacheChoice choose_cache(const SlabLayout& layout, const ObjectKind& kind, const std::string& symbol,
                         const SlabMachine& machine) {
  const Origin& origin = kind.origin;
  if (layout.allocator == SlabAllocator::slob) {
    const std::uint64_t bytes = SlobHeap::object_bytes(origin.bytes_requested, !origin.from_cache, machine);
    return {bytes < machine.page_bytes ? "pages of small objects" : "pages of large objects", bytes, false};
  }
  if (origin.from_cache)
    return {kind.cache.empty() ? fmt::format("(unknown, {} bytes)", origin.bytes_allocated) : kind.cache,
            origin.bytes_allocated, false};
  CacheChoice of_class = choose_class(layout, kind, machine);
  for (std::size_t i = 0; i < layout.site_caches.size(); ++i) {
    const SiteCache& site = layout.site_caches[i];
    if (origin.bytes_requested <= site.above_bytes || origin.bytes_requested > site.most_bytes) continue;
    const std::uint64_t bytes = cache_object_bytes(site.most_bytes, machine);
    if (bytes > of_class.bytes) continue;  // objects that fit into a smaller class are allocated from that class
    if (site.glob.empty()) return {class_cache(kind, bytes), bytes, false, i};
    if (matches_site(site.glob, symbol)) return {fmt::format("{}-{}", site.glob, bytes), bytes, false, i};
  }
  return of_class;
}

HeldMemory HeapSimulation::Integrals::average(const HeldMemory& end, std::uint64_t end_ns) const {
  return {requested.average(end.requested, end_ns), given.average(end.given, end_ns), held.average(end.held, end_ns)};
}

HeapSimulation::HeapSimulation(SlabLayout layout, const SlabMachine& machine, bool keeps_series)
    : layout_(std::move(layout)),
      machine_(machine),
      kinds_(1),
      keeps_series_(keeps_series),
      site_is_used_(layout_.site_caches.size()) {
  if (layout_.allocator == SlabAllocator::slob) shared_heap_ = std::make_unique<SlobHeap>(machine);
}

std::uint32_t HeapSimulation::cache_of(const CacheChoice& choice) {
  // Objects of different sizes never share slabs, even if a trace contains one cache name for both sizes.
  const bool is_slob = layout_.allocator == SlabAllocator::slob;
  const std::string key = is_slob || choice.pages ? choice.cache : fmt::format("{}\n{}", choice.cache, choice.bytes);
  const auto [known, is_new] = cache_ids_.try_emplace(key, static_cast<std::uint32_t>(caches_.size()));
  if (!is_new) return known->second;
  Cache& cache = caches_.emplace_back();
  cache.account.name = choice.cache;
  cache.account.is_new = choice.site.has_value();
  if (is_slob) {
    cache.heap = shared_heap_.get();
    return known->second;
  }
  if (choice.pages) {
    cache.own_heap = std::make_unique<PageHeap>();
  } else {
    const bool is_slab = layout_.allocator == SlabAllocator::slab;
    const SlabGeometry geometry =
        is_slab ? slab_geometry(choice.bytes, machine_) : slub_geometry(choice.bytes, machine_);
    cache.account.object_bytes = choice.bytes;
    cache.account.slab_bytes = geometry.slab_bytes;
    cache.account.objects_per_slab = geometry.objects;
    if (is_slab) {
      cache.own_heap = std::make_unique<SlabArrayHeap>(geometry, machine_);
    } else {
      cache.account.cpu_list_bytes = most_list_bytes(geometry, machine_);
      cache.own_heap = make_slub_cache(geometry, machine_);
    }
  }
  cache.heap = cache.own_heap.get();
  return known->second;
}

bool HeapSimulation::kind(const ObjectKind& kind, const std::string& symbol) {
  Kind& entry = kinds_.emplace_back();
  if (kind.origin.allocator != Allocator::slab) return false;
  if (!layout_.only.empty() && (kind.origin.from_cache || !layout_.only.contains(without_random(kind.cache))))
    return false;
  const CacheChoice choice = choose_cache(layout_, kind, symbol, machine_);
  // Excludes sizes that only a damaged trace contains: the models need at least one byte, and they have a maximum size.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (choice.bytes == 0 || choice.bytes > kMost) return false;
  if (choice.site) site_is_used_[*choice.site] = true;
  entry = {cache_of(choice), choice.bytes, std::min(kind.origin.bytes_requested, choice.bytes)};
  return true;
}

// Extends the series of held memory to this time with the current values.
void HeapSimulation::reach(std::uint64_t ns) {
  constexpr std::size_t kMostBuckets = 512;
  while (ns >> shift_ >= kMostBuckets) {
    for (std::size_t i = 0; 2 * i + 1 < series_.size(); ++i) series_[i] = series_[2 * i + 1];
    series_.resize(series_.size() / 2);
    ++shift_;
  }
  if (series_.size() < ns >> shift_) series_.resize(ns >> shift_, now_);
}

void HeapSimulation::book_held(Cache& cache, std::uint64_t before, std::uint64_t ns) {
  const std::uint64_t held = cache.heap->held_bytes();
  if (held == before) return;
  const std::uint64_t change = held - before;  // computed modulo 2^64
  SimulatedCache& account = cache.account;
  account.end.held += change;
  now_.held += change;
  if (held > before)
    cache.integrals.held.change(change, ns);
  else
    cache.integrals.held.change_back(before - held, ns);
}

void HeapSimulation::began(std::uint32_t object, std::uint32_t number, std::uint64_t ns, unsigned cpu, int node,
                           bool again) {
  const Kind& kind = kinds_[number];
  if (kind.cache == kNone) return;
  if (keeps_series_) reach(ns);
  Cache& cache = caches_[kind.cache];
  if (places_.size() <= object) places_.resize(object + std::size_t{1});
  const std::uint64_t before = cache.heap->held_bytes();
  places_[object] = cache.heap->allocate(kind.bytes, cpu, node);
  SimulatedCache& account = cache.account;
  if (!again) {
    ++account.allocations;
    account.bytes_requested += kind.requested;
    account.bytes_given += kind.bytes;
  }
  account.end.requested += kind.requested;
  account.end.given += kind.bytes;
  now_.requested += kind.requested;
  now_.given += kind.bytes;
  cache.integrals.requested.change(kind.requested, ns);
  cache.integrals.given.change(kind.bytes, ns);
  book_held(cache, before, ns);
  if (account.end.held > account.peak.held) account.peak = account.end;
  if (now_.held > peak_.held) {
    peak_ = now_;
    peak_ns_ = ns;
  }
}

void HeapSimulation::ended(std::uint32_t object, std::uint32_t number, std::uint64_t ns, unsigned cpu) {
  const Kind& kind = kinds_[number];
  if (kind.cache == kNone) return;
  if (keeps_series_) reach(ns);
  Cache& cache = caches_[kind.cache];
  const std::uint64_t before = cache.heap->held_bytes();
  cache.heap->release(places_[object], kind.bytes, cpu);
  cache.account.end.requested -= kind.requested;
  cache.account.end.given -= kind.bytes;
  now_.requested -= kind.requested;
  now_.given -= kind.bytes;
  cache.integrals.requested.change_back(kind.requested, ns);
  cache.integrals.given.change_back(kind.bytes, ns);
  book_held(cache, before, ns);
}

SimulatedHeap HeapSimulation::result(std::uint64_t end_ns) const {
  SimulatedHeap heap;
  heap.name = layout_.name;
  heap.allocator = layout_.allocator;
  heap.peak = peak_;
  heap.peak_ns = peak_ns_;
  heap.end = now_;
  for (const Cache& cache : caches_) {
    SimulatedCache account = cache.account;
    account.average = cache.integrals.average(account.end, end_ns);
    if (cache.own_heap) account.partial_slabs = cache.own_heap->partial_slabs();
    heap.average.requested += account.average.requested;
    heap.average.given += account.average.given;
    heap.average.held += account.average.held;
    heap.allocations += account.allocations;
    heap.bytes_requested += account.bytes_requested;
    heap.bytes_given += account.bytes_given;
    if (account.allocations > 0) heap.caches.push_back(std::move(account));
  }
  std::ranges::stable_sort(heap.caches, [](const SimulatedCache& a, const SimulatedCache& b) {
    return std::tie(b.is_new, b.peak.held, a.name) < std::tie(a.is_new, a.peak.held, b.name);
  });
  for (std::size_t i = 0; i < layout_.site_caches.size(); ++i)
    if (const SiteCache& site = layout_.site_caches[i]; !site_is_used_[i] && !site.glob.empty())
      heap.unused_caches.push_back(fmt::format("{}={}", site.glob, site.most_bytes));
  if (keeps_series_) {
    heap.series = series_;
    heap.series.push_back(now_);
  }
  return heap;
}

}  // namespace kmt
