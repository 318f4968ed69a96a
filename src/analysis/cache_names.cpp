// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/cache_names.hpp"

#include <fmt/format.h>

namespace kmt {

void CacheNames::learn(const EventBatch& batch, const TraceInfo& info) {
  for (const Event& event : batch) {
    if (is_slab_alloc(event.kind) && event.address != 0) {
      if (event.kind == EventKind::cache_alloc && event.cache.value != 0) named_by_allocations_ = true;
      const Request request{info.call_sites[event.call_site.value], event.bytes_allocated};
      objects_.allocate(event, requests_.id_of(request).first);
    } else if (is_slab_free(event.kind)) {
      const auto [outcome, object] = objects_.release(event);
      if (outcome == FreeOutcome::matched && object.from_cache() && event.cache.value != 0)
        ++learned_[object.origin][info.cache_names[event.cache.value]];
    }
  }
}

std::uint32_t CacheNames::id_of(const Event& event) {
  const Source source{event.bytes_allocated, event.call_site.value,
                      event.kind == EventKind::kmalloc ? kKmalloc : event.cache.value};
  const auto [id, inserted] = sources_.id_of(source);
  if (inserted) {
    const auto [name, is_new] = ids_.try_emplace(name_of(source), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name->first);
    id_of_source_.push_back(name->second);
  }
  return id_of_source_[id];
}

std::string CacheNames::name_of(const Source& source) const {
  if (source.cache == kKmalloc) return fmt::format("kmalloc-{}", source.bytes);
  if (source.cache != 0) return info_.cache_names[source.cache];
  const auto request = requests_.find({info_.call_sites[source.call_site], source.bytes});
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
