// SPDX-License-Identifier: GPL-2.0-or-later
// The places of the running kernel's slab caches: addresses, and offsets of members in the kernel's structures. The
// offsets come from BTF, and the addresses from kallsyms.
#pragma once

#include <cstdint>
#include <optional>

namespace kmt {

// A member of a kernel structure.
struct MemberPlace {
  std::uint32_t offset = 0;     // in bytes
  std::uint32_t size = 0;       // in bytes
  std::uint32_t bit = 0;        // first bit of a bitfield, from the least significant bit of the member
  std::uint32_t bits = 0;       // length of a bitfield; 0: not a bitfield
  std::uint32_t type_size = 0;  // size of an element, if the member is an array
};

// Members of the structures of SLUB (mm/slab.h, mm/slub.c and include/linux/mm_types.h; Linux 5.10, 6.1, 6.12, 6.18 and
// 7.3 were compared). Optional members do not exist in every kernel.
struct SlubLayout {
  std::uint64_t page_bytes = 0;  // size of struct page
  // struct slab, which overlays struct page. Before Linux 5.17, these are members of struct page.
  MemberPlace slab_cache, slab_freelist, slab_inuse, slab_objects;
  std::optional<MemberPlace> slab_frozen;
  // struct kmem_cache
  MemberPlace name, list, size, object_size, free_pointer, left_pad;
  MemberPlace nodes;                        // pointers to kmem_cache_node, or pairs of pointers (7.x)
  std::optional<MemberPlace> random;        // with CONFIG_SLAB_FREELIST_HARDENED
  std::optional<MemberPlace> cpu_slab;      // until Linux 6.18
  std::optional<MemberPlace> cpu_freelist;  // struct kmem_cache_cpu
  std::optional<MemberPlace> cpu_sheaves;   // since Linux 6.18
  std::optional<MemberPlace> barn;          // in kmem_cache_node (6.18) or in kmem_cache_per_node_ptrs (7.x)
  bool barn_in_cache = false;               // true if `barn` is in the array `nodes` of the cache
  MemberPlace main, spare, rcu_free;        // struct slub_percpu_sheaves
  MemberPlace sheaf_size, sheaf_objects;    // struct slab_sheaf
  MemberPlace sheaf_list, barn_full;        // slab_sheaf.barn_list and node_barn.sheaves_full
};

// Addresses in the running kernel. If `modules_end` is 0, the image includes the modules.
struct SlabAddresses {
  std::uint64_t slab_caches = 0;     // list of all caches
  std::uint64_t vmemmap = 0;         // struct page of frame 0
  std::uint64_t page_offset = 0;     // address of frame 0 in the direct map
  std::uint64_t per_cpu_offset = 0;  // array with the offset of each CPU's variables
  std::uint64_t image_begin = 0;     // code and data of the kernel
  std::uint64_t image_end = 0;
  std::uint64_t modules_begin = 0;  // code and data of modules
  std::uint64_t modules_end = 0;
  unsigned cpus = 1;   // possible CPUs
  unsigned nodes = 1;  // possible NUMA nodes

  // True for code and data of the kernel and of its modules.
  bool is_in_image(std::uint64_t address) const {
    return (address >= image_begin && address < image_end) || (address >= modules_begin && address < modules_end);
  }
};

}  // namespace kmt
