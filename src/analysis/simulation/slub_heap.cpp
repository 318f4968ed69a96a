// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slub_heap.hpp"

#include <algorithm>

namespace kmt {

SlubHeap::SlubHeap(const SlabGeometry& geometry, const SlabMachine& machine)
    : geometry_(geometry), reserves_(slub_reserves(geometry, machine)), machine_(machine) {}

std::uint32_t SlubHeap::new_slab(unsigned node) {
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

// discard_slab()
void SlubHeap::give_back(std::uint32_t slab) {
  slabs_[slab].place = Place::given_back;
  unused_.push_back(slab);
  --slabs_held_;
}

void SlubHeap::put_on_node(std::uint32_t slab, bool at_end) {
  Node& node = node_of(slabs_[slab].node);
  Slab& entry = slabs_[slab];
  entry.place = Place::node_list;
  entry.previous = at_end ? node.last : kNone;
  entry.next = at_end ? kNone : node.first;
  (entry.previous == kNone ? node.first : slabs_[entry.previous].next) = slab;
  (entry.next == kNone ? node.last : slabs_[entry.next].previous) = slab;
  ++node.slabs;
}

void SlubHeap::take_off_node(std::uint32_t slab) {
  const Slab& entry = slabs_[slab];
  Node& node = node_of(entry.node);
  (entry.previous == kNone ? node.first : slabs_[entry.previous].next) = entry.next;
  (entry.next == kNone ? node.last : slabs_[entry.next].previous) = entry.previous;
  --node.slabs;
}

// __unfreeze_partials()
void SlubHeap::drain(Cpu& cpu) {
  for (std::uint32_t slab = cpu.partial; slab != kNone;) {
    const std::uint32_t next = slabs_[slab].next;
    if (slabs_[slab].used == 0 && node_of(slabs_[slab].node).slabs >= reserves_.min_partial)
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

// put_cpu_partial()
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

// deactivate_slab()
void SlubHeap::leave_active(Cpu& cpu) {
  const std::uint32_t slab = std::exchange(cpu.active, kNone);
  if (free_objects(slab) == 0)
    slabs_[slab].place = Place::full;
  else if (slabs_[slab].used == 0 && node_of(slabs_[slab].node).slabs >= reserves_.min_partial)
    give_back(slab);
  else
    put_on_node(slab, false);
}

// ___slab_alloc()
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

// __slab_free()
void SlubHeap::release(std::uint32_t slab, std::uint64_t, unsigned number) {
  Slab& entry = slabs_[slab];
  --entry.used;
  if (entry.place == Place::full) {
    put_on_cpu(slab, cpu_of(number), true);
  } else if (entry.place == Place::node_list && entry.used == 0 && node_of(entry.node).slabs >= reserves_.min_partial) {
    take_off_node(slab);
    give_back(slab);
  }
}

// Adds a slab that existed before the trace. The node of this slab is unknown, so the slabs are distributed over all
// nodes in turn.
std::uint32_t SlubHeap::started_slab(std::uint32_t used) {
  const std::uint32_t slab = new_slab(machine_.node_of(static_cast<unsigned>(slabs_.size() % machine_.cpus)));
  --slabs_held_;  // start_with() has already counted this slab
  slabs_[slab].used = slabs_[slab].older = used;
  return slab;
}

void SlubHeap::start_with(std::uint64_t slabs, std::uint64_t free_objects) {
  const std::uint32_t half = std::max(geometry_.objects / 2, 1u);
  slabs_held_ = unnamed_ = slabs;
  for (; free_objects > 0 && unnamed_ > 0; --unnamed_) {
    const auto free = static_cast<std::uint32_t>(std::min<std::uint64_t>(half, free_objects));
    free_objects -= free;
    put_on_node(started_slab(geometry_.objects - free), true);
  }
  for (unsigned cpu = 0; cpu < machine_.cpus && geometry_.objects > 1 && unnamed_ > 0; ++cpu, --unnamed_) {
    const std::uint32_t slab = started_slab(geometry_.objects - half);
    slabs_[slab].place = Place::active;
    cpu_of(cpu).active = slab;
  }
}

void SlubHeap::release_older(std::uint64_t address, unsigned cpu) {
  const auto [slab, is_new] = started_by_address_.insert(address / geometry_.slab_bytes);
  if (is_new) {
    if (unnamed_ == 0) {
      started_by_address_.erase(address / geometry_.slab_bytes);
      return;
    }
    --unnamed_;
    *slab = started_slab(geometry_.objects);
  }
  const std::uint32_t at = *slab;
  if (slabs_[at].older == 0) return;
  if (--slabs_[at].older == 0) started_by_address_.erase(address / geometry_.slab_bytes);
  release(at, 0, cpu);
}

std::uint64_t SlubHeap::partial_slabs() const {
  std::uint64_t slabs = 0;
  for (const auto& [number, cpu] : cpus_) slabs += cpu.slabs;
  for (const auto& [number, node] : nodes_) slabs += node.slabs;
  return slabs;
}

}  // namespace kmt
