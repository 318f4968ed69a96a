// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/heap_replay.hpp"

#include <utility>

namespace kmt {

HeapReplay::HeapReplay(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, bool random_caches)
    : info_(info),
      symbols_(symbols),
      random_caches_(random_caches),
      machine_(slab_machine_of(info)),
      caches_(caches),
      stream_(info, symbols, caches, *this) {}

void HeapReplay::add(EventBatch& batch) {
  stream_.add(batch);
  span_ = stream_.span();
}

void HeapReplay::replay(const ObjectLog& log) {
  log.replay(*this, caches_);
  span_ = log.span();
}

void HeapReplay::add_heap(SlabLayout layout, bool keeps_series) {
  heaps_.emplace_back(std::move(layout), machine_, keeps_series);
}

std::string HeapReplay::symbol_of(const Origin& origin) const {
  return name_of_site(origin.call_site, info_, symbols_);
}

void HeapReplay::kind(const ObjectKind& given) {
  ObjectKind kind = given;
  if (random_caches_) choose_random_cache(kind, info_.tables.call_sites[kind.origin.call_site.value], machine_);
  const std::string symbol = symbol_of(kind.origin);
  bool simulated = false;
  for (HeapSimulation& heap : heaps_) simulated = heap.kind(kind, symbol) || simulated;
  is_simulated_.push_back(simulated ? 1 : 0);
}

void HeapReplay::began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
  const std::uint64_t ns = clock_.at(event.time_ns);
  if (alive_.size() <= object) alive_.resize(object + std::size_t{1});
  alive_[object] = kind;
  if (is_simulated_[kind] == 0) return;
  for (HeapSimulation& heap : heaps_) heap.began(object, kind, ns, event.cpu, event.node, again);
}

void HeapReplay::ended(std::uint32_t object, const Event& event, bool) {
  const std::uint64_t ns = clock_.at(event.time_ns);
  const std::uint32_t kind = alive_[object];
  if (is_simulated_[kind] == 0) return;
  for (HeapSimulation& heap : heaps_) heap.ended(object, kind, ns, event.cpu);
}

}  // namespace kmt
