// SPDX-License-Identifier: GPL-2.0-or-later
// Models a cache of SLAB (mm/slab.c, Linux 6.1; removed in 6.8). Each CPU has an array of free objects, and the CPUs of
// a node share another array. Arrays and slabs exchange objects in batches. The model assumes that every CPU's array is
// in use (`touched`), and that the timer that frees unused objects (cache_reap()) never runs. Objects return to the
// node of their slab.
#pragma once

#include <map>
#include <vector>

#include "analysis/simulation/slab_heap.hpp"

namespace kmt {

class SlabArrayHeap : public SlabHeap {
 public:
  SlabArrayHeap(const SlabGeometry& geometry, const SlabMachine& machine);

  std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) override;
  void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) override;
  std::uint64_t held_bytes() const override { return slabs_held_ * geometry_.slab_bytes; }
  std::uint64_t partial_slabs() const override;

 private:
  using Objects = std::vector<std::uint32_t>;  // the slab of each object
  struct Slab {
    std::uint32_t used = 0;  // number of objects of the slab that are in use or in arrays
    std::uint32_t at = 0;    // index in the node's list of slabs; has no meaning for full slabs
    std::uint16_t node = 0;
  };
  struct Node {
    Objects shared;
    std::vector<std::uint32_t> partial;
    std::vector<std::uint32_t> free;
    std::uint64_t free_objects = 0;  // free objects in slabs, not those in arrays
  };

  Node& node_of(unsigned node) { return nodes_[node]; }
  void refill(Objects& array, unsigned node);
  void flush(Objects& array, unsigned node);
  void give_to_slab(std::uint32_t slab);
  std::uint32_t take_from_slabs(unsigned node);
  void add(std::vector<std::uint32_t>& list, std::uint32_t slab);
  void remove(std::vector<std::uint32_t>& list, std::uint32_t slab);

  SlabGeometry geometry_;
  const SlabMachine& machine_;
  std::size_t limit_;  // maximum number of objects in a CPU's array
  std::size_t batch_;
  std::size_t shared_;                  // maximum number of objects in the shared array of a node
  std::map<unsigned, Objects> arrays_;  // arrays of the CPUs; a map because a damaged trace may contain any CPU number
  std::map<unsigned, Node> nodes_;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> unused_;
  std::uint64_t slabs_held_ = 0;
};

}  // namespace kmt
