// SPDX-License-Identifier: GPL-2.0-or-later
// Models a cache of SLUB with sheaves (mm/slub.c of Linux 7.2.12; valid for 7.0 to 7.2). A sheaf is an array of free
// objects. Each CPU has a main sheaf and a spare one. Each node has a barn of full and empty sheaves. A CPU fills an
// empty sheaf from the node's partial slabs, and then from new pages. If the barn has enough full sheaves, the CPU
// returns the objects of a sheaf to their slabs. In addition to what SlubCache omits, the memory of the sheaves is not
// modelled, nor are the sheaves of kfree_rcu() and prefilled sheaves, whose events are not traced.
#pragma once

#include <map>
#include <vector>

#include "analysis/simulation/slub_cache.hpp"

namespace kmt {

class SheafHeap : public SlubCache {
 public:
  SheafHeap(const SlabGeometry& geometry, const SlabMachine& machine);

  std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) override;
  void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) override;

 private:
  using Sheaf = std::vector<std::uint32_t>;  // for each free object, its slab
  struct Cpu {
    Sheaf main;
    Sheaf spare;
    bool has_spare = false;
  };
  struct Barn {
    std::vector<Sheaf> full;  // the most recently added sheaf is last
    std::uint32_t empty = 0;
  };

  void start_cpu(unsigned cpu) override;
  void replace_empty_main(Cpu& cpu, unsigned node);
  void replace_full_main(Cpu& cpu, unsigned node);
  void flush(const Sheaf& sheaf);
  void refill(Sheaf& sheaf, unsigned node);
  void refill_from_node(Sheaf& sheaf, unsigned node);
  void refill_from_new_slab(Sheaf& sheaf, unsigned node);
  std::uint32_t allocate_from_slabs(unsigned node);
  void free_to_slab(std::uint32_t slab);

  std::size_t capacity_;
  std::map<unsigned, Cpu> cpus_;  // a map because a damaged trace may contain any CPU number
  std::map<unsigned, Barn> barns_;
};

}  // namespace kmt
