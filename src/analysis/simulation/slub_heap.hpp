// SPDX-License-Identifier: GPL-2.0-or-later
// Models a cache of SLUB without sheaves (mm/slub.c, Linux 5.10 to 6.18). Each CPU allocates from its active slab, then
// from its list of partial slabs, then from the node's list, then from new pages. If an object in a full slab is freed,
// the slab moves to the list of the freeing CPU. If that list is too long, its slabs move to the node. The node frees
// empty slabs if it has enough partial slabs. In addition to what SlubCache omits, the sheaves of the caches maple_node
// and vm_area_struct in Linux 6.18 and 6.19 are not modelled.
#pragma once

#include <map>
#include <vector>

#include "analysis/simulation/slub_cache.hpp"

namespace kmt {

class SlubHeap : public SlubCache {
 public:
  SlubHeap(const SlabGeometry& geometry, const SlabMachine& machine) : SlubCache(geometry, machine) {}

  std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) override;
  void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) override;
  std::uint64_t partial_slabs() const override;

 private:
  struct Cpu {
    std::uint32_t active = kNone;
    std::uint32_t partial = kNone;
    std::uint32_t slabs = 0;           // number of slabs on the CPU's partial list
    std::uint32_t objects = 0;         // number of free objects that these slabs had when they were added
    std::vector<std::uint32_t> below;  // value of `objects` before each slab on the list was added
  };

  Cpu& cpu_of(unsigned cpu) { return cpus_[cpu]; }
  void start_cpu(unsigned cpu) override;
  void put_on_cpu(std::uint32_t slab, Cpu& cpu, bool drain);
  void drain(Cpu& cpu);
  void leave_active(Cpu& cpu);
  std::uint32_t take_from_cpu(Cpu& cpu);
  std::uint32_t take_from_node(unsigned node, Cpu& cpu);

  std::map<unsigned, Cpu> cpus_;  // a map because a damaged trace may contain any CPU number
};

}  // namespace kmt
