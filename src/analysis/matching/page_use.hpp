// SPDX-License-Identifier: GPL-2.0-or-later
// The use of pages, from the stack of their allocation: events of pages do not report it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/code/symbol_names.hpp"

namespace kmt {

enum class PageUse : std::uint8_t {
  unknown,
  page_cache,        // of files and block devices
  user,              // user memory, including shared memory
  page_table,        // of processes
  slab,              // of slabs and large kmallocs, whose objects have events too
  reclaimable_slab,  // of slabs of inodes, dentries and the like
  vmalloc,
};

// The stack's frames, innermost first. The innermost function that is known decides.
PageUse page_use_of(std::span<const std::string> stack);
PageUse page_use_of(std::span<const std::uint64_t> stack, const SymbolNames& symbols);

}  // namespace kmt
