// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slabinfo_check.hpp"

#include <algorithm>

namespace kmt {

namespace {

// Slabs with free objects have an entry each: what slabinfo may claim is limited.
constexpr std::uint64_t kMostPartial = std::uint64_t{1} << 22;

constexpr std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

bool is_usable(const SlabInfo& slab, const SlabMachine& machine) {
  constexpr std::uint64_t kMostSlabs = std::uint64_t{1} << 40;
  constexpr std::uint64_t kMostPages = 1024;
  return slab.object_bytes > 0 && slab.objects_per_slab > 0 && slab.pages_per_slab > 0 && slab.slabs <= kMostSlabs &&
         slab.pages_per_slab <= kMostPages && slab.active_objects <= slab.objects &&
         slab.objects_per_slab <= slab.pages_per_slab * machine.page_bytes / slab.object_bytes;
}

}  // namespace

SlabinfoCheck::SlabinfoCheck(std::span<const SlabInfo> before, const SlabMachine& machine) : machine_(machine) {
  std::uint64_t room = kMostPartial;
  for (const SlabInfo& slab : before) {
    if (!is_usable(slab, machine)) continue;
    const std::uint64_t most_free = slab.objects - slab.active_objects;
    const std::uint64_t half = std::max<std::uint64_t>(slab.objects_per_slab / 2, 1);
    const std::uint64_t partial = std::min(slab.slabs, most_free / half + 1 + machine.cpus);
    if (partial > room) continue;
    room -= partial;
    const SlabGeometry geometry{slab.object_bytes, slab.pages_per_slab * machine.page_bytes,
                                static_cast<std::uint32_t>(slab.objects_per_slab), 0};
    if (!ids_.try_emplace(slab.name, static_cast<std::uint32_t>(caches_.size())).second) continue;
    caches_.push_back({slab, SlubHeap(geometry, machine)});
    caches_.back().heap.start_with(slab.slabs, most_free);
  }
  cache_of_kind_.push_back(kNone);
}

void SlabinfoCheck::kind(const ObjectKind& kind) {
  const auto known = ids_.find(kind.cache);
  cache_of_kind_.push_back(kind.origin.allocator == Allocator::slab && known != ids_.end() ? known->second : kNone);
}

void SlabinfoCheck::began(std::uint32_t object, std::uint32_t kind, const Event& event) {
  const std::uint32_t cache = cache_of_kind_[kind];
  if (cache == kNone) return;
  *cache_of_page_.insert(event.address / machine_.page_bytes).first = cache;
  if (places_.size() <= object) places_.resize(object + std::size_t{1});
  places_[object] = caches_[cache].heap.allocate(0, event.cpu, event.node);
}

void SlabinfoCheck::ended(std::uint32_t object, std::uint32_t kind, const Event& event) {
  const std::uint32_t cache = cache_of_kind_[kind];
  if (cache != kNone) caches_[cache].heap.release(places_[object], 0, event.cpu);
}

void SlabinfoCheck::freed_older(const Event& event, const std::string& cache) {
  if (const auto known = ids_.find(cache); known != ids_.end()) {
    caches_[known->second].heap.release_older(event.address, event.cpu);
  } else if (const std::uint32_t* const seen = cache_of_page_.find(event.address / machine_.page_bytes)) {
    caches_[*seen].heap.release_older(event.address, event.cpu);
  } else {
    ++unknown_frees_;
  }
}

SlabinfoComparison SlabinfoCheck::compare(std::span<const SlabInfo> after) const {
  SlabinfoComparison result;
  result.unknown_frees = unknown_frees_;
  for (const SlabInfo& slab : after) {
    const auto known = ids_.find(slab.name);
    if (known == ids_.end()) continue;
    const Cache& cache = caches_[known->second];
    const SlabGeometry geometry = slub_geometry(slab.object_bytes, machine_);
    ++result.geometry_compared;
    if (geometry.objects != slab.objects_per_slab || geometry.slab_bytes != slab.pages_per_slab * machine_.page_bytes)
      result.geometry_differs.push_back(slab.name);
    const SlabinfoCache line{slab.name, cache.before.slabs * cache.before.pages_per_slab,
                             slab.slabs * slab.pages_per_slab, cache.heap.slabs() * slab.pages_per_slab};
    result.caches += line.pages_before + line.pages_after > 0 ? 1 : 0;
    result.pages_before += line.pages_before;
    result.pages_after += line.pages_after;
    result.pages_predicted += line.pages_predicted;
    result.error_pages += distance(line.pages_after, line.pages_predicted);
    result.unchanged_error += distance(line.pages_after, line.pages_before);
    if (line.pages_before != line.pages_after || line.pages_before != line.pages_predicted)
      result.lines.push_back(line);
  }
  std::ranges::stable_sort(result.lines, [](const SlabinfoCache& a, const SlabinfoCache& b) {
    return distance(a.pages_after, a.pages_predicted) > distance(b.pages_after, b.pages_predicted);
  });
  return result;
}

}  // namespace kmt
