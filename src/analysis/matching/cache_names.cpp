// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/cache_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/matching/slab_account.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/kernel_release.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

// Returns the object size from a kmalloc cache name: "kmalloc-512", "dma-kmalloc-1k", "kmalloc-cg-2M". Empty for other
// caches.
std::optional<std::uint64_t> size_in_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (name.find("kmalloc-") == std::string_view::npos || dash == std::string_view::npos) return std::nullopt;
  std::string_view unit = name.substr(dash + 1);
  const auto size = take_number<std::uint64_t>(unit);
  if (!size || *size > (1u << 30)) return std::nullopt;
  if (unit.empty()) return size;
  if (unit == "k") return *size << 10;
  return unit == "M" ? std::optional(*size << 20) : std::nullopt;
}

std::map<std::uint64_t, std::set<std::uint64_t>> sizes_of_kmalloc(const TraceInfo& info) {
  std::map<std::uint64_t, std::set<std::uint64_t>> sizes;
  bool any_larger = false;
  if (info.recording.samples.empty()) return sizes;
  for (const SlabInfo& cache : parse_slabinfo(text_of(info.recording.samples.front(), "slabinfo")).caches) {
    const auto size = size_in_name(cache.name);
    if (!size) continue;
    sizes[*size].insert(cache.object_bytes);
    any_larger = any_larger || cache.object_bytes != *size;
  }
  if (!any_larger) sizes.clear();
  return sizes;
}

}  // namespace

// Linux 4.20 introduced reclaimable caches and sizes such as "1k". Linux 5.14 introduced caches for control groups.
// Whether they exist depends on the configuration and boot parameters, and only slabinfo shows it.
CacheNames::CacheNames(const TraceInfo& info) : info_(info) {
  const auto version = version_of(info.machine.kernel);
  short_sizes_ = !version || *version >= KernelVersion{4, 20};
  const bool has_cgroup_caches =
      std::any_of(info.recording.samples.begin(), info.recording.samples.end(), [](const StateSample& sample) {
        return std::any_of(sample.texts.begin(), sample.texts.end(), [](const auto& text) {
          return text.first == "slabinfo" && text.second.find("\nkmalloc-cg-") != std::string::npos;
        });
      });
  kmalloc_sizes_ = sizes_of_kmalloc(info);
  if (has_cgroup_caches) take_cgroup_caches_for_given();
  if (short_sizes_) reclaimable_flag_ = flag("__GFP_RECLAIMABLE");
  dma_flag_ = flag("__GFP_DMA") | flag("GFP_DMA");
}

std::uint32_t CacheNames::flag(std::string_view name) const {
  for (const FlagName& known : info_.tables.gfp_flags)
    if (known.name == name) return static_cast<std::uint32_t>(known.bits);
  return 0;
}

void CacheNames::take_cgroup_caches_for_given() { account_flag_ = flag("__GFP_ACCOUNT"); }

// Uses the rules of kmalloc_type() in include/linux/slab.h.
CacheNames::KmallocKind CacheNames::kind_of(std::uint32_t gfp_flags) const {
  if ((gfp_flags & dma_flag_) != 0) return KmallocKind::dma;
  if ((gfp_flags & reclaimable_flag_) != 0) return KmallocKind::reclaimable;
  return (gfp_flags & account_flag_) != 0 ? KmallocKind::cgroup : KmallocKind::normal;
}

// Returns the size in the name of a kmalloc cache. With slub_debug, objects are larger than this size, and events
// report the larger size.
std::uint64_t CacheNames::kmalloc_size(const Event& event) const {
  for (auto size = kmalloc_sizes_.lower_bound(event.bytes_requested); size != kmalloc_sizes_.end(); ++size)
    if (size->second.contains(event.bytes_allocated)) return size->first;
  return event.bytes_allocated;
}

std::string CacheNames::kmalloc_name(std::uint64_t bytes, KmallocKind kind) const {
  if (is_large_kmalloc(EventKind::kmalloc, bytes, info_.machine.page_size)) return "large kmalloc";
  constexpr std::array kPrefixes = {"kmalloc-", "kmalloc-cg-", "kmalloc-rcl-", "dma-kmalloc-"};
  const bool in_k = short_sizes_ && bytes >= 1024 && bytes % 1024 == 0;
  return fmt::format("{}{}{}", kPrefixes[static_cast<std::size_t>(kind)], in_k ? bytes / 1024 : bytes, in_k ? "k" : "");
}

// Skips objects of kmalloc, and frees that name no cache, because nothing is learned from them.
void CacheNames::learn(const EventBatch& batch, const TraceInfo& info) {
  constexpr std::size_t kPrefetchDistance = 20;  // events; covers the time of one cache miss
  constexpr std::size_t kFewObjects = 1 << 15;   // their addresses fit into the CPU's cache
  const bool prefetches = live_.size() > kFewObjects;
  const auto teaches = [](const Event& event) {
    return event.address != 0 &&
           (event.kind == EventKind::cache_alloc || (is_slab_free(event.kind) && event.cache.value != 0));
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::size_t ahead = i + kPrefetchDistance;
    if (prefetches && ahead < batch.size() && teaches(batch[ahead])) live_.prefetch(batch[ahead].address);
    const Event& event = batch[i];
    if (!teaches(event)) continue;
    if (event.kind == EventKind::cache_alloc) {
      if (event.cache.value != 0) named_by_allocations_ = true;
      *live_.insert(event.address).first = request_of(event, info);
    } else if (const std::optional<std::uint32_t> request = live_.take(event.address)) {
      count_free(*request, event.cache.value, info);
    }
  }
}

void CacheNames::learn(CallSiteId call_site, std::uint64_t bytes_allocated, CacheId cache, std::uint64_t frees) {
  const std::uint32_t request = requests_.id_of({info_.tables.call_sites[call_site.value], bytes_allocated}).first;
  learned_[request][info_.tables.cache_names[cache.value]] += frees;
}

std::uint32_t CacheNames::request_of(const Event& event, const TraceInfo& info) {
  const std::uint32_t site = event.call_site.value;
  if (site >= recent_requests_.size()) recent_requests_.resize(info.tables.call_sites.size());
  RecentRequest& recent = recent_requests_[site];
  if (recent.id == ~0u || recent.bytes != event.bytes_allocated)
    recent = {event.bytes_allocated, requests_.id_of({info.tables.call_sites[site], event.bytes_allocated}).first};
  return recent.id;
}

void CacheNames::count_free(std::uint32_t request, std::uint32_t cache, const TraceInfo& info) {
  if (request >= recent_frees_.size()) recent_frees_.resize(requests_.size());
  RecentFree& recent = recent_frees_[request];
  if (recent.cache != cache) recent = {cache, &learned_[request][info.tables.cache_names[cache]]};
  ++*recent.count;
}

void CacheNames::take_learned(const CacheNames& other) {
  named_by_allocations_ = other.named_by_allocations_;
  requests_ = other.requests_;
  learned_ = other.learned_;
}

std::uint32_t CacheNames::id_of(const Event& event) {
  const bool of_kmalloc = event.kind == EventKind::kmalloc;
  const Source source{of_kmalloc ? kmalloc_size(event) : event.bytes_allocated, event.call_site.value,
                      of_kmalloc ? kKmalloc - static_cast<std::uint32_t>(kind_of(event.gfp_flags)) : event.cache.value};
  const auto [id, inserted] = sources_.id_of(source);
  if (inserted) {
    const auto [name, is_new] = ids_.try_emplace(name_of(source), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name->first);
    id_of_source_.push_back(name->second);
  }
  return id_of_source_[id];
}

std::string CacheNames::name_of(const Source& source) const {
  if (kKmalloc - source.cache <= static_cast<std::uint32_t>(KmallocKind::dma))
    return kmalloc_name(source.bytes, static_cast<KmallocKind>(kKmalloc - source.cache));
  if (source.cache != 0) return info_.tables.cache_names[source.cache];
  const auto request = requests_.find({info_.tables.call_sites[source.call_site], source.bytes});
  const auto names = request ? learned_.find(*request) : learned_.end();
  if (names == learned_.end()) return {};
  std::uint64_t frees = 0;
  for (const auto& [name, count] : names->second) frees += count;
  std::string all;
  for (const auto& [name, count] : names->second)
    if (10 * count >= frees) all += (all.empty() ? "" : "|") + name;
  return all;
}

}  // namespace kmt
