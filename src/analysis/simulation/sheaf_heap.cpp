// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/sheaf_heap.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

SheafHeap::SheafHeap(const SlabGeometry& geometry, const SlabMachine& machine)
    : SlubCache(geometry, machine), capacity_(sheaf_capacity(geometry.object_bytes, machine)) {}

// Assumes a main sheaf that is at most half full; slabinfo counts its objects as used. They are from only one slab,
// because more slabs would need too much memory if the numbers are forged.
void SheafHeap::start_cpu(unsigned cpu) {
  const std::uint32_t slab = take_started_slab(geometry_.objects);
  const auto objects = static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry_.objects, capacity_ / 2));
  cpus_[cpu].main.assign(objects, slab);
  slabs_[slab].older -= objects;
}

// Implements alloc_from_pcs().
std::uint32_t SheafHeap::allocate(std::uint64_t, unsigned number, int node) {
  const unsigned home = machine_.node_of(number);
  const unsigned wanted = node < 0 ? home : static_cast<unsigned>(node);
  if (wanted != home) return allocate_from_slabs(wanted);
  Cpu& cpu = cpus_[number];
  if (cpu.main.empty()) replace_empty_main(cpu, home);
  const std::uint32_t slab = cpu.main.back();
  if (node >= 0 && slabs_[slab].node != wanted) return allocate_from_slabs(wanted);
  cpu.main.pop_back();
  return slab;
}

// Implements __pcs_replace_empty_main().
void SheafHeap::replace_empty_main(Cpu& cpu, unsigned node) {
  if (!cpu.spare.empty()) return std::swap(cpu.main, cpu.spare);
  Barn& barn = barns_[node];
  if (!barn.full.empty()) {
    cpu.main = std::move(barn.full.back());
    barn.full.pop_back();
    ++barn.empty;
    return;
  }
  // The CPU fills its spare sheaf, a sheaf from the barn, or a new sheaf. The empty main sheaf becomes the spare one.
  if (!cpu.has_spare && barn.empty > 0) --barn.empty;
  cpu.has_spare = true;
  refill(cpu.main, node);
}

// Implements free_to_pcs().
void SheafHeap::release(std::uint32_t slab, std::uint64_t, unsigned number) {
  const unsigned node = machine_.node_of(number);
  if (slabs_[slab].node != node) return free_to_slab(slab);
  Cpu& cpu = cpus_[number];
  if (cpu.main.size() >= capacity_) replace_full_main(cpu, node);
  cpu.main.push_back(slab);
}

// Implements __pcs_replace_full_main().
void SheafHeap::replace_full_main(Cpu& cpu, unsigned node) {
  Barn& barn = barns_[node];
  if (cpu.has_spare && cpu.spare.size() < capacity_) return std::swap(cpu.main, cpu.spare);
  if (cpu.has_spare && barn.full.size() >= kMostFullSheaves) {
    flush(cpu.spare);
    cpu.spare = std::exchange(cpu.main, {});
    return;
  }
  if (barn.empty > 0) --barn.empty;  // otherwise, the kernel allocates a sheaf
  if (cpu.has_spare) {
    barn.full.push_back(std::exchange(cpu.main, {}));
  } else {
    cpu.spare = std::exchange(cpu.main, {});
    cpu.has_spare = true;
  }
}

// Implements sheaf_flush_unused().
void SheafHeap::flush(const Sheaf& sheaf) {
  for (const std::uint32_t slab : sheaf) free_to_slab(slab);
}

// Implements refill_objects().
void SheafHeap::refill(Sheaf& sheaf, unsigned node) {
  refill_from_node(sheaf, node);
  for (auto other = nodes_.begin(); sheaf.size() < capacity_ && other != nodes_.end(); ++other)
    if (other->first != node && other->second.slabs > reserves_.min_partial) refill_from_node(sheaf, other->first);
  while (sheaf.size() < capacity_) refill_from_new_slab(sheaf, node);
}

// Implements __refill_objects_node().
void SheafHeap::refill_from_node(Sheaf& sheaf, unsigned node) {
  while (sheaf.size() < capacity_ && node_of(node).first != kNone) {
    const std::uint32_t slab = node_of(node).first;
    take_off_node(slab);
    const std::size_t objects = std::min<std::size_t>(free_objects(slab), capacity_ - sheaf.size());
    sheaf.insert(sheaf.end(), objects, slab);
    slabs_[slab].used += static_cast<std::uint32_t>(objects);
    if (free_objects(slab) > 0) put_on_node(slab, true);  // implements __slab_try_return_freelist()
  }
}

// Implements alloc_from_new_slab().
void SheafHeap::refill_from_new_slab(Sheaf& sheaf, unsigned node) {
  const std::uint32_t slab = new_slab(node);
  const std::size_t objects = std::min<std::size_t>(geometry_.objects, capacity_ - sheaf.size());
  sheaf.insert(sheaf.end(), objects, slab);
  slabs_[slab].used = static_cast<std::uint32_t>(objects);
  if (free_objects(slab) > 0) put_on_node(slab, false);
}

// Allocates an object without a sheaf, as ___slab_alloc() does.
std::uint32_t SheafHeap::allocate_from_slabs(unsigned node) {
  std::uint32_t slab = node_of(node).first;
  if (slab == kNone) {
    slab = new_slab(node);
    put_on_node(slab, false);
  }
  ++slabs_[slab].used;
  if (free_objects(slab) == 0) take_off_node(slab);
  return slab;
}

// Implements __slab_free().
void SheafHeap::free_to_slab(std::uint32_t slab) {
  const bool was_full = free_objects(slab) == 0;
  --slabs_[slab].used;
  if (is_superfluous(slab)) {
    if (!was_full) take_off_node(slab);
    give_back(slab);
  } else if (was_full) {
    put_on_node(slab, true);
  }
}

}  // namespace kmt
