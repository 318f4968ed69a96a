// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "results/series/memory_state.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Lines of meminfo that show free memory or a use of kernel memory.
constexpr std::array<std::string_view, 9> kMeminfoNames = {"MemFree",      "MemAvailable", "Slab",
                                                           "SReclaimable", "SUnreclaim",   "KernelStack",
                                                           "PageTables",   "VmallocUsed",  "Percpu"};

// Returns the uses of kernel memory (Documentation/filesystems/proc.rst, "meminfo"): slab, stacks, page tables, per-CPU
// memory and vmalloc. Also returns free memory. Lines that are missing in a sample are left out.
MemoryState memory_state_of(const std::vector<StateSample>& samples);

}  // namespace kmt
