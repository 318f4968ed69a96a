// SPDX-License-Identifier: GPL-2.0-or-later
// Derives the page size of a machine from copies of its files, which do not state it.
#pragma once

#include <cstdint>

#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Returns the page size in bytes. Uses meminfo and vmstat of `memory`, which must be parsed, and other texts of
// `sample`. Returns 4096 if the texts show no page size. Does not throw.
std::uint32_t page_size_of_copies(const StateSample& sample, const KernelMemory& memory);

}  // namespace kmt
