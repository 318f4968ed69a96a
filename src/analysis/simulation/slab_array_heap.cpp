// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slab_array_heap.hpp"

#include <algorithm>

namespace kmt {

// Computes the array sizes as enable_cpucache() does.
SlabArrayHeap::SlabArrayHeap(const SlabGeometry& geometry, const SlabMachine& machine)
    : geometry_(geometry), machine_(machine) {
  const std::uint64_t bytes = geometry.object_bytes;
  limit_ = bytes > 131072 ? 1 : bytes > machine.page_bytes ? 8 : bytes > 1024 ? 24 : bytes > 256 ? 54 : 120;
  batch_ = (limit_ + 1) / 2;
  shared_ = bytes <= machine.page_bytes && machine.cpus > 1 ? 8 * batch_ : 0;
}

void SlabArrayHeap::add(std::vector<std::uint32_t>& list, std::uint32_t slab) {
  slabs_[slab].at = static_cast<std::uint32_t>(list.size());
  list.push_back(slab);
}

void SlabArrayHeap::remove(std::vector<std::uint32_t>& list, std::uint32_t slab) {
  const std::uint32_t at = slabs_[slab].at;
  list[at] = list.back();
  slabs_[list[at]].at = at;
  list.pop_back();
}

// Takes an object from a partial slab, otherwise from a free slab, otherwise from a new slab.
std::uint32_t SlabArrayHeap::take_from_slabs(unsigned number) {
  Node& node = node_of(number);
  std::uint32_t slab;
  if (!node.partial.empty()) {
    slab = node.partial.back();
  } else {
    if (!node.free.empty()) {
      slab = node.free.back();
      node.free.pop_back();
    } else {
      if (unused_.empty()) {
        slab = static_cast<std::uint32_t>(slabs_.size());
        slabs_.emplace_back();
      } else {
        slab = unused_.back();
        unused_.pop_back();
      }
      slabs_[slab] = {0, 0, static_cast<std::uint16_t>(number)};
      ++slabs_held_;
      node.free_objects += geometry_.objects;
    }
    add(node.partial, slab);
  }
  --node.free_objects;
  if (++slabs_[slab].used == geometry_.objects) remove(node.partial, slab);
  return slab;
}

// Implements cache_alloc_refill().
void SlabArrayHeap::refill(Objects& array, unsigned number) {
  Objects& shared = node_of(number).shared;
  if (!shared.empty()) {
    const std::size_t count = std::min(batch_, shared.size());
    array.assign(shared.end() - static_cast<std::ptrdiff_t>(count), shared.end());
    shared.resize(shared.size() - count);
    return;
  }
  // A batch is filled from existing slabs. If these have no free object, the batch gets only the objects of one new
  // slab.
  while (array.size() < batch_) {
    const Node& node = node_of(number);
    if (!array.empty() && node.partial.empty() && node.free.empty()) break;
    array.push_back(take_from_slabs(number));
  }
}

void SlabArrayHeap::give_to_slab(std::uint32_t slab) {
  Slab& entry = slabs_[slab];
  Node& node = node_of(entry.node);
  if (entry.used == geometry_.objects) add(node.partial, slab);
  ++node.free_objects;
  if (--entry.used > 0) return;
  remove(node.partial, slab);
  add(node.free, slab);
}

// Implements cache_flusharray(): frees a batch of the oldest objects in the array.
void SlabArrayHeap::flush(Objects& array, unsigned number) {
  Objects& shared = node_of(number).shared;
  std::size_t count = std::min(batch_, array.size());
  if (shared.size() < shared_) {
    count = std::min(count, shared_ - shared.size());
    shared.insert(shared.end(), array.begin(), array.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    for (std::size_t i = 0; i < count; ++i) give_to_slab(array[i]);
    for (auto& [of, node] : nodes_) {
      // The limit is free_limit in set_up_node(). Unlike the kernel, the model assumes that each node has the same
      // number of CPUs.
      const std::size_t cpus = std::max<std::size_t>(machine_.cpus / nodes_.size(), 1);
      while (node.free_objects > (1 + cpus) * batch_ + geometry_.objects && !node.free.empty()) {
        unused_.push_back(node.free.back());
        node.free.pop_back();
        node.free_objects -= geometry_.objects;
        --slabs_held_;
      }
    }
  }
  array.erase(array.begin(), array.begin() + static_cast<std::ptrdiff_t>(count));
}

std::uint32_t SlabArrayHeap::allocate(std::uint64_t, unsigned cpu, int node) {
  const unsigned local = machine_.node_of(cpu);
  if (node >= 0 && static_cast<unsigned>(node) != local) return take_from_slabs(static_cast<unsigned>(node));
  Objects& array = arrays_[cpu];
  if (array.empty()) refill(array, local);
  const std::uint32_t slab = array.back();
  array.pop_back();
  return slab;
}

void SlabArrayHeap::release(std::uint32_t slab, std::uint64_t, unsigned cpu) {
  if (slabs_[slab].node != machine_.node_of(cpu)) return give_to_slab(slab);
  Objects& array = arrays_[cpu];
  if (array.size() >= limit_) flush(array, slabs_[slab].node);
  array.push_back(slab);
}

std::uint64_t SlabArrayHeap::partial_slabs() const {
  std::uint64_t slabs = 0;
  for (const auto& [number, node] : nodes_) slabs += node.partial.size() + node.free.size();
  return slabs;
}

}  // namespace kmt
