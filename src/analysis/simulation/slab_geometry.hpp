// SPDX-License-Identifier: GPL-2.0-or-later
// Computes how the kernel's allocators divide pages into objects. Sources: SLUB in mm/slub.c and mm/slab_common.c of
// Linux 5.10, 6.1, 6.8, 6.18 and 7.2; SLAB in mm/slab.c and SLOB in mm/slob.c of Linux 6.1. The rules of a version
// apply from that version on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_release.hpp"
#include "trace/state/sheaves.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Properties of the traced machine that affect the decisions of the allocators.
struct SlabMachine {
  KernelVersion version{6, 1};
  std::string arch;
  std::uint64_t page_bytes = 4096;
  unsigned word_bytes = 8;
  unsigned cpus = 1;
  std::vector<std::int16_t> cpu_nodes;  // node of each CPU; CPUs without an entry belong to node 0

  unsigned node_of(unsigned cpu) const {
    return cpu < cpu_nodes.size() && cpu_nodes[cpu] >= 0 ? static_cast<unsigned>(cpu_nodes[cpu]) : 0;
  }
};

SlabMachine slab_machine_of(const TraceInfo& info);

struct SlabGeometry {
  std::uint64_t object_bytes = 0;  // size of an object with its padding
  std::uint64_t slab_bytes = 0;
  std::uint32_t objects = 0;  // number of objects in a slab
  unsigned order = 0;         // a slab has 2^order pages

  // Returns the bytes that an object takes up if all slabs are full.
  double bytes_an_object() const { return static_cast<double>(slab_bytes) / objects; }
};

// Returns the slabs that SLUB uses for objects of this size. Implements calculate_order(). Before Linux 6.8 the kernel
// tries decreasing numbers of objects per slab; since then it tries increasing waste. Objects larger than any slab get
// a block of pages each. Before Linux 5.12 the kernel uses the number of possible CPUs; the model uses the existing
// CPUs instead.
SlabGeometry slub_geometry(std::uint64_t object_bytes, const SlabMachine& machine);
// Returns the slabs that SLAB uses for objects of this size. Implements calculate_slab_order(). The list of free
// objects is inside a free object if it fits, otherwise in the slab.
SlabGeometry slab_geometry(std::uint64_t object_bytes, const SlabMachine& machine);

// The free memory that SLUB keeps for each CPU and each node (set_cpu_partial(), set_min_partial()).
struct SlubReserves {
  // Maximum size of a CPU's partial list: number of slabs or, before Linux 5.16, number of free objects.
  std::uint32_t cpu_partial = 0;
  bool counts_objects = false;       // true: cpu_partial is a number of objects; false: of slabs
  std::uint32_t min_partial = 0;     // a node keeps this many partial slabs even if they are empty
  std::uint64_t most_cpu_slabs = 0;  // maximum number of slabs of a CPU, including the active slab
};
SlubReserves slub_reserves(const SlabGeometry& geometry, const SlabMachine& machine);

// True if the CPUs of the kernel keep free objects in sheaves instead of slabs. False for Linux 6.18 and 6.19, where
// only two caches do.
inline bool has_sheaves(const SlabMachine& machine) { return machine.version >= KernelVersion{7, 0}; }
SheafMachine sheaf_machine_of(const SlabMachine& machine);
// Returns the number of objects in a full sheaf. A cache can request more; the model ignores this.
inline std::uint64_t sheaf_capacity(std::uint64_t object_bytes, const SlabMachine& machine) {
  return sheaf_capacity(object_bytes, machine.page_bytes, machine.word_bytes);
}

// Returns the maximum bytes that one cache keeps for CPUs: their slabs, or the objects in all sheaves.
std::uint64_t most_list_bytes(const SlabGeometry& geometry, const SlabMachine& machine);

// Returns the sizes of the kmalloc caches in ascending order, from `least` bytes to two pages (create_kmalloc_caches(),
// setup_kmalloc_cache_index_table()). The size 96 is missing if objects are aligned to 64 bytes. The size 192 is
// missing if objects are aligned to 128 bytes.
std::vector<std::uint64_t> kmalloc_classes(std::uint64_t least, const SlabMachine& machine);
// Value of ARCH_KMALLOC_MINALIGN on arm64 before Linux 6.5.
constexpr std::uint64_t kArm64Alignment = 128;

// Returns KMALLOC_MIN_SIZE if the architecture alone determines it. Otherwise returns 0, as for arm64 since Linux 6.5,
// where it depends on the CPU.
std::uint64_t least_kmalloc_class(const SlabMachine& machine);

// Returns the size of a kmalloc allocation: the smallest sufficient class, or 2^n whole pages if no class is large
// enough.
std::uint64_t kmalloc_bytes(std::uint64_t requested, const std::vector<std::uint64_t>& classes,
                            const SlabMachine& machine);

// Returns the bytes that each object takes in a cache without a special alignment (calculate_sizes()).
std::uint64_t cache_object_bytes(std::uint64_t object_bytes, const SlabMachine& machine);

// Returns a size as in the names of kmalloc caches since Linux 4.20: "96" or "1k".
std::string class_name(std::uint64_t bytes);

}  // namespace kmt
