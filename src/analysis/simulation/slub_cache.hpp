// SPDX-License-Identifier: GPL-2.0-or-later
// The slabs of a SLUB cache and the nodes' lists of partial slabs (mm/slub.c, Linux 5.10 to 7.2). The derived classes
// add the free objects that CPUs keep. Only the number of free objects in a slab is known, so their order does not
// matter. Not modelled: smaller slab orders because of fragmentation, and flushes when a CPU goes offline or a cache is
// shrunk.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "analysis/simulation/slab_heap.hpp"
#include "base/flat_map.hpp"

namespace kmt {

class SlubCache : public SlabHeap {
 public:
  // Sets the number of slabs at the start and the number of their free objects. Call this first. It is unknown in which
  // slabs the free objects are. The model assumes that half of each partial slab is free. It also assumes that CPUs
  // keep some objects that slabinfo counts as used.
  void start_with(std::uint64_t slabs, std::uint64_t free_objects);
  // Frees an object from before the trace. Its address shows which other objects are in the same slab.
  void release_older(std::uint64_t address, unsigned cpu);

  std::uint64_t held_bytes() const override { return slabs_held_ * geometry_.slab_bytes; }
  std::uint64_t partial_slabs() const override;  // only those on the nodes' lists
  std::uint64_t slabs() const { return slabs_held_; }

 protected:
  static constexpr std::uint32_t kNone = ~0u;
  enum class Place : std::uint8_t { full, active, cpu_list, node_list, given_back };
  struct Slab {
    std::uint32_t used = 0;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;  // only used if the slab is on a node's list
    std::uint32_t older = 0;         // number of objects from before the trace
    std::uint16_t node = 0;
    Place place = Place::full;
  };
  struct Node {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t slabs = 0;
  };

  SlubCache(const SlabGeometry& geometry, const SlabMachine& machine);

  // Gives a CPU the objects that it keeps at the start of the trace, from at most one full slab (take_started_slab()).
  // Only called while a full slab is left.
  virtual void start_cpu(unsigned cpu) = 0;

  Node& node_of(unsigned node) { return nodes_[node]; }
  std::uint32_t free_objects(std::uint32_t slab) const { return geometry_.objects - slabs_[slab].used; }
  std::uint32_t new_slab(unsigned node);
  // Returns a slab from before the trace with this number of used objects. There must be a full slab.
  std::uint32_t take_started_slab(std::uint32_t used);
  void give_back(std::uint32_t slab);
  void put_on_node(std::uint32_t slab, bool at_end);
  void take_off_node(std::uint32_t slab);
  // True if the slab is empty, and the node has enough other partial slabs.
  bool is_superfluous(std::uint32_t slab);

  SlabGeometry geometry_;
  SlubReserves reserves_;
  const SlabMachine& machine_;
  std::vector<Slab> slabs_;
  std::map<unsigned, Node> nodes_;

 private:
  std::uint32_t started_slab(std::uint32_t used);

  std::vector<std::uint32_t> unused_;  // unused entries of slabs_
  std::uint64_t slabs_held_ = 0;
  // Number of full slabs from before the trace whose objects are all still live. These slabs have no entry in slabs_.
  std::uint64_t unnamed_ = 0;
  // Key: address of a slab from before the trace. The address is known because an object in the slab was freed.
  FlatMap<std::uint32_t> started_by_address_;
};

// Returns the model for the kernel's version: CPUs have sheaves since Linux 7.0, and slabs before.
std::unique_ptr<SlubCache> make_slub_cache(const SlabGeometry& geometry, const SlabMachine& machine);

}  // namespace kmt
