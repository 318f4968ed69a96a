// SPDX-License-Identifier: GPL-2.0-or-later
// How the kernel's allocators cut pages into objects, as published: SLUB in mm/slub.c and mm/slab_common.c of
// Linux 5.10, 6.1, 6.8 and 6.18, SLAB in mm/slab.c of Linux 6.1, SLOB in mm/slob.c of the same. Rules of a version hold
// from the named one on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_release.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// The traced machine, as far as allocators look at it.
struct SlabMachine {
  KernelVersion version{6, 1};
  std::string arch;
  std::uint64_t page_bytes = 4096;
  unsigned word_bytes = 8;
  unsigned cpus = 1;
  std::vector<std::int16_t> cpu_nodes;  // may be shorter than there are CPUs: node 0

  unsigned node_of(unsigned cpu) const {
    return cpu < cpu_nodes.size() && cpu_nodes[cpu] >= 0 ? static_cast<unsigned>(cpu_nodes[cpu]) : 0;
  }
};

SlabMachine slab_machine_of(const TraceInfo& info);

struct SlabGeometry {
  std::uint64_t object_bytes = 0;  // with padding
  std::uint64_t slab_bytes = 0;
  std::uint32_t objects = 0;  // in a slab
  unsigned order = 0;         // a slab is 2^order pages

  // The bytes that an object takes in full slabs.
  double bytes_an_object() const { return static_cast<double>(slab_bytes) / objects; }
};

// An object may be larger than any slab: then each has a block of pages of its own.
// calculate_order(): before Linux 6.8 by decreasing numbers of objects, since then by increasing waste. Before 5.12 the
// CPUs are those there could be, which is taken for those there are.
SlabGeometry slub_geometry(std::uint64_t object_bytes, const SlabMachine& machine);
// calculate_slab_order(), with the list of free objects inside a free object, else in the slab.
SlabGeometry slab_geometry(std::uint64_t object_bytes, const SlabMachine& machine);

// SLUB's reserves for a CPU and for a node (set_cpu_partial(), set_min_partial()).
struct SlubReserves {
  std::uint32_t cpu_partial = 0;     // most slabs of a CPU's partial list; before Linux 5.16 free objects on it
  bool counts_objects = false;       // it is objects
  std::uint32_t min_partial = 0;     // as many partial slabs of a node are not given back when they become empty
  std::uint64_t most_cpu_slabs = 0;  // slabs that a CPU can hold, the one that it allocates from included
};
SlubReserves slub_reserves(const SlabGeometry& geometry, const SlabMachine& machine);

// Sizes of the kmalloc caches, ascending, from `least` bytes to two pages (create_kmalloc_caches(),
// setup_kmalloc_cache_index_table()): 96 is none where objects are aligned to 64 bytes, 192 where to 128.
std::vector<std::uint64_t> kmalloc_classes(std::uint64_t least, const SlabMachine& machine);
// ARCH_KMALLOC_MINALIGN of arm64 before Linux 6.5.
constexpr std::uint64_t kArm64Alignment = 128;

// KMALLOC_MIN_SIZE where the architecture alone decides it, else 0: arm64 asks the CPU since Linux 6.5.
std::uint64_t least_kmalloc_class(const SlabMachine& machine);

// Returns the bytes that kmalloc gives: the smallest class, or 2^n whole pages if no class is large enough.
std::uint64_t kmalloc_bytes(std::uint64_t requested, const std::vector<std::uint64_t>& classes,
                            const SlabMachine& machine);

// Returns the bytes that a cache takes for each object without an alignment of its own (calculate_sizes()).
std::uint64_t cache_object_bytes(std::uint64_t object_bytes, const SlabMachine& machine);

// "96", "1k", as the kernel names its kmalloc caches since Linux 4.20.
std::string class_name(std::uint64_t bytes);

}  // namespace kmt
