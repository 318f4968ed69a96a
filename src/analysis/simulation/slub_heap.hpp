// SPDX-License-Identifier: GPL-2.0-or-later
// Models a cache of SLUB (mm/slub.c, Linux 5.10 to 6.18). Each CPU allocates from its active slab, then from its list
// of partial slabs, then from the node's list, then from new pages. If an object in a full slab is freed, the slab
// moves to the list of the freeing CPU. If that list is too long, its slabs move to the node. The node frees empty
// slabs if it has enough partial slabs. Only the number of free objects in a slab is known, so their order does not
// matter. Not modelled: smaller slab orders because of fragmentation, flushes when a CPU goes offline or a cache is
// shrunk, and the sheaves of some caches since Linux 6.18.
#pragma once

#include <map>
#include <vector>

#include "analysis/simulation/slab_heap.hpp"
#include "base/flat_map.hpp"

namespace kmt {

class SlubHeap : public SlabHeap {
 public:
  SlubHeap(const SlabGeometry& geometry, const SlabMachine& machine);

  // Sets the number of slabs at the start and the number of their free objects. Call this first. It is unknown in which
  // slabs the free objects are. The model assumes that half of each partial slab is free. It also assumes one active
  // slab per CPU that is half free although slabinfo counts it as used.
  void start_with(std::uint64_t slabs, std::uint64_t free_objects);
  // Frees an object from before the trace. Its address shows which other objects are in the same slab.
  void release_older(std::uint64_t address, unsigned cpu);

  std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) override;
  void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) override;
  std::uint64_t held_bytes() const override { return slabs_held_ * geometry_.slab_bytes; }
  std::uint64_t partial_slabs() const override;
  std::uint64_t slabs() const { return slabs_held_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  enum class Place : std::uint8_t { full, active, cpu_list, node_list, given_back };
  struct Slab {
    std::uint32_t used = 0;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;  // node_list
    std::uint32_t older = 0;         // number of objects from before the trace
    std::uint16_t node = 0;
    Place place = Place::full;
  };
  struct Cpu {
    std::uint32_t active = kNone;
    std::uint32_t partial = kNone;
    std::uint32_t slabs = 0;           // number of slabs on the CPU's partial list
    std::uint32_t objects = 0;         // number of free objects that these slabs had when they were added
    std::vector<std::uint32_t> below;  // value of `objects` before each slab on the list was added
  };
  struct Node {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t slabs = 0;
  };

  Cpu& cpu_of(unsigned cpu) { return cpus_[cpu]; }
  Node& node_of(unsigned node) { return nodes_[node]; }
  std::uint32_t new_slab(unsigned node);
  std::uint32_t started_slab(std::uint32_t used);
  void give_back(std::uint32_t slab);
  void put_on_cpu(std::uint32_t slab, Cpu& cpu, bool drain);
  void drain(Cpu& cpu);
  void put_on_node(std::uint32_t slab, bool at_end);
  void take_off_node(std::uint32_t slab);
  void leave_active(Cpu& cpu);
  std::uint32_t take_from_cpu(Cpu& cpu);
  std::uint32_t take_from_node(unsigned node, Cpu& cpu);
  std::uint32_t free_objects(std::uint32_t slab) const { return geometry_.objects - slabs_[slab].used; }

  SlabGeometry geometry_;
  SlubReserves reserves_;
  const SlabMachine& machine_;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> unused_;  // unused entries of slabs_
  std::uint64_t slabs_held_ = 0;
  std::map<unsigned, Cpu> cpus_;  // a map because a damaged trace may contain any CPU number
  std::map<unsigned, Node> nodes_;
  // Number of full slabs from before the trace whose objects are all still live. These slabs have no entry in slabs_.
  std::uint64_t unnamed_ = 0;
  // Key: address of a slab from before the trace. The address is known because an object in the slab was freed.
  FlatMap<std::uint32_t> started_by_address_;
};

}  // namespace kmt
