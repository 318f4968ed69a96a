// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "results/series/memory_state.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// The lines of meminfo that show where kernel memory is used, and what is free.
constexpr std::array<std::string_view, 9> kMeminfoNames = {"MemFree",      "MemAvailable", "Slab",
                                                           "SReclaimable", "SUnreclaim",   "KernelStack",
                                                           "PageTables",   "VmallocUsed",  "Percpu"};

// Returns the uses of kernel memory (Documentation/filesystems/proc.rst, "meminfo"): slab, stacks, page tables,
// per-CPU, vmalloc, and free memory. Lines that a sample does not have are left out.
MemoryState memory_state_of(const std::vector<StateSample>& samples);

}  // namespace kmt
