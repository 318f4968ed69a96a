// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out what pages are used for. Page events do not contain the use, but the stack of the allocation shows it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/code/symbol_names.hpp"
#include "trace/gfp_flags.hpp"

namespace kmt {

enum class PageUse : std::uint8_t {
  unknown,
  page_cache,        // pages of files and block devices
  user,              // pages of user memory, including shared memory
  page_table,        // of processes
  slab,              // pages of slabs and large kmallocs, whose objects have events of their own
  reclaimable_slab,  // pages of slabs for inodes, dentries and other reclaimable objects
  vmalloc,
};

// Returns the use that the innermost known function shows. `stack` has the innermost frame first.
PageUse page_use_of(std::span<const std::string> stack);
PageUse page_use_of(std::span<const std::uint64_t> stack, const SymbolNames& symbols);

// The GFP flags by which allocations of page cache are recognised. grow_dev_folio() in fs/buffer.c and file systems
// with a mapping of GFP_NOFS allocate page cache without __GFP_FS, but with __GFP_HARDWALL, which the kernel sets for
// user memory (Linux 2.6.31 to 7.0).
struct PageCacheFlags {
  std::uint64_t set = 0;  // 0: the trace does not name the flags
  std::uint64_t clear = 0;

  bool match(std::uint32_t gfp_flags) const { return set != 0 && (gfp_flags & (set | clear)) == set; }
};
PageCacheFlags page_cache_flags(const std::vector<FlagName>& names);

}  // namespace kmt
