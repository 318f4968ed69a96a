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
  page_table,        // page tables of processes
  slab,              // pages of slabs and large kmallocs, whose objects have events of their own
  reclaimable_slab,  // pages of slabs for inodes, dentries and other reclaimable objects
  vmalloc,
  task_stack,  // the kernel stack of a task, allocated with vmalloc
};

// True for pages whose objects have events of their own.
constexpr bool is_of_slab(PageUse use) { return use == PageUse::slab || use == PageUse::reclaimable_slab; }

// Returns the use that the innermost known function in a stack shows. `stack` has the innermost frame first.
PageUse page_use_of(std::span<const std::string> stack);
PageUse page_use_of(std::span<const std::uint64_t> stack, const SymbolNames& symbols);

// The GFP flags that show the use of pages. The bits differ between kernels, but traces contain their names.
class PageUseFlags {
 public:
  PageUseFlags() = default;
  explicit PageUseFlags(const std::vector<FlagName>& names);

  bool known() const { return hardwall_ != 0; }  // false if the trace does not contain the names of the flags
  // True for flags of page cache of block devices, and of buffers for read-ahead.
  bool are_of_page_cache(std::uint32_t gfp_flags, unsigned order) const;
  // True for flags of pages of slabs, of any cache.
  bool are_of_slab(std::uint32_t gfp_flags, unsigned order) const;
  bool are_of_page_table(std::uint32_t gfp_flags, unsigned order) const;

 private:
  std::uint64_t hardwall_ = 0, fs_ = 0, io_ = 0, zero_ = 0, account_ = 0, comp_ = 0, no_warn_ = 0, no_retry_ = 0,
                no_memalloc_ = 0, high_memory_ = 0, movable_ = 0, direct_reclaim_ = 0, kswapd_ = 0;
};

// Returns the use that the GFP flags of an allocation show. Flags show fewer uses than stacks.
PageUse page_use_of(const PageUseFlags& flags, std::uint32_t gfp_flags, unsigned order);

}  // namespace kmt
