// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slub_heap.hpp"

#include <utility>

namespace kmt {

// Implements __unfreeze_partials().
void SlubHeap::drain(Cpu& cpu) {
  for (std::uint32_t slab = cpu.partial; slab != kNone;) {
    const std::uint32_t next = slabs_[slab].next;
    if (is_superfluous(slab))
      give_back(slab);
    else
      put_on_node(slab, true);
    slab = next;
  }
  cpu.partial = kNone;
  cpu.slabs = 0;
  cpu.objects = 0;
  cpu.below.clear();
}

// Implements put_cpu_partial().
void SlubHeap::put_on_cpu(std::uint32_t slab, Cpu& cpu, bool may_drain) {
  const bool is_full =
      reserves_.counts_objects ? cpu.objects > reserves_.cpu_partial : cpu.slabs >= reserves_.cpu_partial;
  if (may_drain && cpu.partial != kNone && is_full) drain(cpu);
  slabs_[slab].place = Place::cpu_list;
  slabs_[slab].next = cpu.partial;
  cpu.partial = slab;
  ++cpu.slabs;
  cpu.below.push_back(cpu.objects);
  cpu.objects += free_objects(slab);
}

std::uint32_t SlubHeap::take_from_cpu(Cpu& cpu) {
  const std::uint32_t slab = cpu.partial;
  if (slab == kNone) return kNone;
  cpu.partial = slabs_[slab].next;
  --cpu.slabs;
  cpu.objects = cpu.below.back();
  cpu.below.pop_back();
  return slab;
}

// Implements get_partial_node(): the first slab becomes the CPU's active slab, and further slabs fill half of the CPU's
// list.
std::uint32_t SlubHeap::take_from_node(unsigned number, Cpu& cpu) {
  const std::uint32_t first = node_of(number).first;
  if (first == kNone) return kNone;
  take_off_node(first);
  std::uint32_t taken = reserves_.counts_objects ? free_objects(first) : 0;
  const std::uint32_t enough = reserves_.cpu_partial / 2;
  if (reserves_.counts_objects && taken > enough) return first;
  while (node_of(number).first != kNone) {
    const std::uint32_t slab = node_of(number).first;
    take_off_node(slab);
    taken += reserves_.counts_objects ? free_objects(slab) : 1;
    put_on_cpu(slab, cpu, false);
    if (taken > enough) break;
  }
  return first;
}

// Implements deactivate_slab().
void SlubHeap::leave_active(Cpu& cpu) {
  const std::uint32_t slab = std::exchange(cpu.active, kNone);
  if (free_objects(slab) == 0)
    slabs_[slab].place = Place::full;
  else if (is_superfluous(slab))
    give_back(slab);
  else
    put_on_node(slab, false);
}

// Implements ___slab_alloc().
std::uint32_t SlubHeap::allocate(std::uint64_t, unsigned number, int node) {
  Cpu& cpu = cpu_of(number);
  const auto fits = [&](std::uint32_t slab) { return node < 0 || slabs_[slab].node == node; };
  if (cpu.active != kNone && (free_objects(cpu.active) == 0 || !fits(cpu.active))) leave_active(cpu);
  while (cpu.active == kNone && (cpu.active = take_from_cpu(cpu)) != kNone)
    if (!fits(cpu.active)) leave_active(cpu);
  if (cpu.active == kNone) {
    const unsigned wanted = node >= 0 ? static_cast<unsigned>(node) : machine_.node_of(number);
    cpu.active = take_from_node(wanted, cpu);
    // Another node only gives up a slab if it has more than min_partial slabs, as in get_any_partial().
    for (auto other = nodes_.begin(); cpu.active == kNone && node < 0 && other != nodes_.end(); ++other)
      if (other->first != wanted && other->second.slabs > reserves_.min_partial)
        cpu.active = take_from_node(other->first, cpu);
    if (cpu.active == kNone) cpu.active = new_slab(wanted);
  }
  slabs_[cpu.active].place = Place::active;
  ++slabs_[cpu.active].used;
  return cpu.active;
}

// Implements __slab_free().
void SlubHeap::release(std::uint32_t slab, std::uint64_t, unsigned number) {
  Slab& entry = slabs_[slab];
  --entry.used;
  if (entry.place == Place::full) {
    put_on_cpu(slab, cpu_of(number), true);
  } else if (entry.place == Place::node_list && is_superfluous(slab)) {
    take_off_node(slab);
    give_back(slab);
  }
}

// Assumes an active slab that is half free, although slabinfo counts all its objects as used.
void SlubHeap::start_cpu(unsigned cpu) {
  if (geometry_.objects <= 1) return;
  const std::uint32_t slab = take_started_slab(geometry_.objects - geometry_.objects / 2);
  slabs_[slab].place = Place::active;
  cpu_of(cpu).active = slab;
}

std::uint64_t SlubHeap::partial_slabs() const {
  std::uint64_t slabs = SlubCache::partial_slabs();
  for (const auto& [number, cpu] : cpus_) slabs += cpu.slabs;
  return slabs;
}

}  // namespace kmt
