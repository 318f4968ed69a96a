// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slabinfo_check.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/slab_account.hpp"

namespace kmt {

namespace {

// Maximum number of slabs. Each slab with free objects has an entry, so this maximum limits memory use if the slabinfo
// is forged.
constexpr std::uint64_t kMostPartial = std::uint64_t{1} << 22;

constexpr std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

bool is_usable(const SlabInfo& slab, const SlabMachine& machine) {
  constexpr std::uint64_t kMostSlabs = std::uint64_t{1} << 40;
  constexpr std::uint64_t kMostPages = 1024;
  return slab.object_bytes > 0 && slab.objects_per_slab > 0 && slab.pages_per_slab > 0 && slab.slabs <= kMostSlabs &&
         slab.pages_per_slab <= kMostPages && slab.active_objects <= slab.objects &&
         slab.objects_per_slab <= slab.pages_per_slab * machine.page_bytes / slab.object_bytes;
}

// Returns the pages of the slabs that the cache's sheaves can fill with free objects.
std::uint64_t sheaf_pages(const SlabInfo& slab, const SheafMachine& machine) {
  const std::uint64_t objects = most_objects_in_sheaves(slab.name, slab.object_bytes, machine);
  return (objects + slab.objects_per_slab - 1) / slab.objects_per_slab * slab.pages_per_slab;
}

std::string size_name(std::uint64_t bytes) { return fmt::format("{} bytes", bytes); }

// Merges caches with equal object sizes into one, named after the size. If the caches of one size have different slabs,
// they are left out: events do not show to which of the caches an object belongs.
std::vector<SlabInfo> merged_by_size(std::span<const SlabInfo> slabs, const SlabMachine& machine) {
  std::map<std::uint64_t, std::optional<SlabInfo>> sizes;
  for (const SlabInfo& slab : slabs) {
    if (!is_usable(slab, machine)) continue;
    const auto [place, is_new] = sizes.try_emplace(slab.object_bytes, slab);
    std::optional<SlabInfo>& sum = place->second;
    if (is_new || !sum) continue;
    if (sum->pages_per_slab != slab.pages_per_slab || sum->objects_per_slab != slab.objects_per_slab) {
      sum.reset();
      continue;
    }
    sum->slabs += slab.slabs;
    sum->objects += slab.objects;
    sum->active_objects += slab.active_objects;
  }
  std::vector<SlabInfo> merged;
  for (auto& [bytes, sum] : sizes) {
    if (!sum) continue;
    sum->name = size_name(bytes);
    merged.push_back(std::move(*sum));
  }
  return merged;
}

}  // namespace

SlabinfoCheck::SlabinfoCheck(std::span<const SlabInfo> all_before, const SlabMachine& machine, bool by_size)
    : machine_(machine), by_size_(by_size) {
  const std::vector<SlabInfo> merged = by_size ? merged_by_size(all_before, machine) : std::vector<SlabInfo>();
  const std::span<const SlabInfo> before = by_size ? std::span<const SlabInfo>(merged) : all_before;
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
    caches_.push_back({slab, make_slub_cache(geometry, machine)});
    caches_.back().heap->start_with(slab.slabs, most_free);
  }
  cache_of_kind_.push_back(kNone);
}

void SlabinfoCheck::kind(const ObjectKind& kind) {
  // Objects that are too large for the kmalloc caches belong to no cache.
  const bool takes_size =
      by_size_ && (kind.origin.from_cache ||
                   !is_large_kmalloc(EventKind::kmalloc, kind.origin.bytes_allocated, machine_.page_bytes));
  const auto known = ids_.find(takes_size ? size_name(kind.origin.bytes_allocated) : kind.cache);
  cache_of_kind_.push_back(kind.origin.allocator == Allocator::slab && known != ids_.end() ? known->second : kNone);
}

void SlabinfoCheck::began(std::uint32_t object, std::uint32_t kind, const Event& event) {
  const std::uint32_t cache = cache_of_kind_[kind];
  if (cache == kNone) return;
  *cache_of_page_.insert(event.address / machine_.page_bytes).first = cache;
  if (places_.size() <= object) places_.resize(object + std::size_t{1});
  places_[object] = caches_[cache].heap->allocate(0, event.cpu, event.node);
}

void SlabinfoCheck::ended(std::uint32_t object, std::uint32_t kind, const Event& event) {
  const std::uint32_t cache = cache_of_kind_[kind];
  if (cache != kNone) caches_[cache].heap->release(places_[object], 0, event.cpu);
}

void SlabinfoCheck::freed_older(const Event& event, const std::string& cache) {
  if (const auto known = ids_.find(cache); known != ids_.end()) {
    caches_[known->second].heap->release_older(event.address, event.cpu);
  } else if (const std::uint32_t* const seen = cache_of_page_.find(event.address / machine_.page_bytes)) {
    caches_[*seen].heap->release_older(event.address, event.cpu);
  } else {
    ++unknown_frees_;
  }
}

SlabinfoComparison SlabinfoCheck::compare(std::span<const SlabInfo> all_after) const {
  SlabinfoComparison result;
  result.by_size = by_size_;
  result.unknown_frees = unknown_frees_;
  for (const SlabInfo& slab : all_after) {
    if (!ids_.contains(by_size_ ? size_name(slab.object_bytes) : slab.name)) continue;
    const SlabGeometry geometry = slub_geometry(slab.object_bytes, machine_);
    ++result.geometry_compared;
    if (geometry.objects != slab.objects_per_slab || geometry.slab_bytes != slab.pages_per_slab * machine_.page_bytes)
      result.geometry_differs.push_back(slab.name);
  }
  const std::vector<SlabInfo> merged = by_size_ ? merged_by_size(all_after, machine_) : std::vector<SlabInfo>();
  const SheafMachine sheaves = sheaf_machine_of(machine_);
  std::set<std::string, std::less<>> compared;
  for (const SlabInfo& slab : by_size_ ? std::span<const SlabInfo>(merged) : all_after) {
    const auto known = ids_.find(slab.name);
    if (known == ids_.end() || !is_usable(slab, machine_)) continue;
    compared.insert(slab.name);
    const Cache& cache = caches_[known->second];
    const SlabinfoCache line{slab.name, cache.before.slabs * cache.before.pages_per_slab,
                             slab.slabs * slab.pages_per_slab, cache.heap->slabs() * slab.pages_per_slab,
                             sheaf_pages(slab, sheaves)};
    result.caches += line.pages_before + line.pages_after > 0 ? 1 : 0;
    result.pages_before += line.pages_before;
    result.pages_after += line.pages_after;
    result.pages_predicted += line.pages_predicted;
    const std::uint64_t error = distance(line.pages_after, line.pages_predicted);
    result.error_pages += error;
    result.error_in_sheaves += std::min(error, line.sheaf_pages);
    result.unchanged_error += distance(line.pages_after, line.pages_before);
    if (line.pages_before != line.pages_after || line.pages_before != line.pages_predicted)
      result.lines.push_back(line);
  }
  for (const SlabInfo& slab : all_after) {
    const bool is_compared =
        is_usable(slab, machine_) && compared.contains(by_size_ ? size_name(slab.object_bytes) : slab.name);
    if (slab.slabs > 0 && !is_compared) ++result.not_compared;
  }
  std::ranges::stable_sort(result.lines, [](const SlabinfoCache& a, const SlabinfoCache& b) {
    return distance(a.pages_after, a.pages_predicted) > distance(b.pages_after, b.pages_predicted);
  });
  return result;
}

}  // namespace kmt
