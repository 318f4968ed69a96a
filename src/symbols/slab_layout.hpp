// SPDX-License-Identifier: GPL-2.0-or-later
// Finds where the running kernel keeps its slab caches.
#pragma once

#include <string_view>

#include "symbols/btf.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

// Returns the members of SLUB's structures. Throws Error if the types lack one that every supported kernel has.
SlubLayout slab_layout(const Btf& btf);

// Returns the addresses in the text of /proc/kallsyms. Sets `vmemmap` and `page_offset` to the addresses of the kernel
// variables that contain them, or to 0 if there is no such variable. Throws Error if symbols are missing.
SlabAddresses slab_symbols(std::string_view kallsyms);

}  // namespace kmt
