// SPDX-License-Identifier: GPL-2.0-or-later
// A cache of SLAB (mm/slab.c, Linux 6.1; removed in 6.8): each CPU has an array of free objects, each node one that its
// CPUs share; both exchange objects with the slabs in batches. Every CPU's array is taken to be in use (`touched`), and
// the timer that gives back what lies idle (cache_reap()) never to run. Objects go back to the node of their slab.
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
  using Objects = std::vector<std::uint32_t>;  // the slab of each
  struct Slab {
    std::uint32_t used = 0;  // those in arrays too
    std::uint32_t at = 0;    // place in its node's list; of a full one nothing
    std::uint16_t node = 0;
  };
  struct Node {
    Objects shared;
    std::vector<std::uint32_t> partial;
    std::vector<std::uint32_t> free;
    std::uint64_t free_objects = 0;  // of slabs, not those in arrays
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
  std::size_t limit_;  // of a CPU's array
  std::size_t batch_;
  std::size_t shared_;                  // most objects that the CPUs of a node share
  std::map<unsigned, Objects> arrays_;  // of CPUs; not by index: a damaged trace names any
  std::map<unsigned, Node> nodes_;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> unused_;
  std::uint64_t slabs_held_ = 0;
};

}  // namespace kmt
