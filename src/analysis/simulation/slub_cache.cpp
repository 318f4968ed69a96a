// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slub_cache.hpp"

#include <algorithm>

#include "analysis/simulation/sheaf_heap.hpp"
#include "analysis/simulation/slub_heap.hpp"

namespace kmt {

SlubCache::SlubCache(const SlabGeometry& geometry, const SlabMachine& machine)
    : geometry_(geometry), reserves_(slub_reserves(geometry, machine)), machine_(machine) {}

std::uint32_t SlubCache::new_slab(unsigned node) {
  std::uint32_t slab = static_cast<std::uint32_t>(slabs_.size());
  if (unused_.empty()) {
    slabs_.emplace_back();
  } else {
    slab = unused_.back();
    unused_.pop_back();
    slabs_[slab] = {};
  }
  slabs_[slab].node = static_cast<std::uint16_t>(node);
  ++slabs_held_;
  return slab;
}

// Implements discard_slab().
void SlubCache::give_back(std::uint32_t slab) {
  slabs_[slab].place = Place::given_back;
  unused_.push_back(slab);
  --slabs_held_;
}

void SlubCache::put_on_node(std::uint32_t slab, bool at_end) {
  Node& node = node_of(slabs_[slab].node);
  Slab& entry = slabs_[slab];
  entry.place = Place::node_list;
  entry.previous = at_end ? node.last : kNone;
  entry.next = at_end ? kNone : node.first;
  (entry.previous == kNone ? node.first : slabs_[entry.previous].next) = slab;
  (entry.next == kNone ? node.last : slabs_[entry.next].previous) = slab;
  ++node.slabs;
}

void SlubCache::take_off_node(std::uint32_t slab) {
  const Slab& entry = slabs_[slab];
  Node& node = node_of(entry.node);
  (entry.previous == kNone ? node.first : slabs_[entry.previous].next) = entry.next;
  (entry.next == kNone ? node.last : slabs_[entry.next].previous) = entry.previous;
  --node.slabs;
}

bool SlubCache::is_superfluous(std::uint32_t slab) {
  return slabs_[slab].used == 0 && node_of(slabs_[slab].node).slabs >= reserves_.min_partial;
}

// Adds a slab that existed before the trace. The node of this slab is unknown, so the slabs are distributed over all
// nodes in turn.
std::uint32_t SlubCache::started_slab(std::uint32_t used) {
  const std::uint32_t slab = new_slab(machine_.node_of(static_cast<unsigned>(slabs_.size() % machine_.cpus)));
  --slabs_held_;  // start_with() has already counted this slab
  slabs_[slab].used = slabs_[slab].older = used;
  return slab;
}

std::uint32_t SlubCache::take_started_slab(std::uint32_t used) {
  --unnamed_;
  return started_slab(used);
}

void SlubCache::start_with(std::uint64_t slabs, std::uint64_t free_objects) {
  const std::uint32_t half = std::max(geometry_.objects / 2, 1u);
  slabs_held_ = unnamed_ = slabs;
  while (free_objects > 0 && unnamed_ > 0) {
    const auto free = static_cast<std::uint32_t>(std::min<std::uint64_t>(half, free_objects));
    free_objects -= free;
    put_on_node(take_started_slab(geometry_.objects - free), true);
  }
  for (unsigned cpu = 0; cpu < machine_.cpus && unnamed_ > 0; ++cpu) start_cpu(cpu);
}

void SlubCache::release_older(std::uint64_t address, unsigned cpu) {
  const auto [slab, is_new] = started_by_address_.insert(address / geometry_.slab_bytes);
  if (is_new) {
    if (unnamed_ == 0) {
      started_by_address_.erase(address / geometry_.slab_bytes);
      return;
    }
    *slab = take_started_slab(geometry_.objects);
  }
  const std::uint32_t at = *slab;
  if (slabs_[at].older == 0) return;
  if (--slabs_[at].older == 0) started_by_address_.erase(address / geometry_.slab_bytes);
  release(at, 0, cpu);
}

std::uint64_t SlubCache::partial_slabs() const {
  std::uint64_t slabs = 0;
  for (const auto& [number, node] : nodes_) slabs += node.slabs;
  return slabs;
}

std::unique_ptr<SlubCache> make_slub_cache(const SlabGeometry& geometry, const SlabMachine& machine) {
  if (has_sheaves(machine)) return std::make_unique<SheafHeap>(geometry, machine);
  return std::make_unique<SlubHeap>(geometry, machine);
}

}  // namespace kmt
