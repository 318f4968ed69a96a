// SPDX-License-Identifier: GPL-2.0-or-later
// Accounting data of slabs: one struct slabobj_ext for each object (mm/slab.h of Linux 6.18). The kernel allocates an
// array of these structs for each slab (alloc_slab_obj_exts() in mm/slub.c of Linux 6.18,
// memcg_alloc_page_obj_cgroups() since Linux 5.9). The array is an unreclaimable kmalloc object, even if the slab is
// reclaimable. So kmalloc caches grow when other caches grow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// A struct slabobj_ext has 8 bytes, and 16 bytes in kernels with CONFIG_MEM_ALLOC_PROFILING. slabinfo does not show
// which of the two sizes a kernel has. Slabs without accounted objects have no such data.
struct SlabExtensions {
  // By name of a kmalloc cache: upper limit of its bytes that are accounting data. The names point into slabinfo.
  std::map<std::string_view, std::uint64_t> by_cache;
  std::uint64_t least = 0;  // lower limit of the bytes in all caches together: 8 bytes for each object
};

// Finds the accounting data of the slabs of those caches for which `counts` is true. The result points into `caches`.
SlabExtensions slab_extensions(const std::vector<SlabInfo>& caches,
                               const std::function<bool(const std::string&)>& counts);

}  // namespace kmt
