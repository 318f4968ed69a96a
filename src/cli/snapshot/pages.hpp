// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the page frames of the running machine for `snapshot --pages`.
#pragma once

#include <cstdint>
#include <optional>

#include "results/snapshot/page_census.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Reads the state of all page frames of the machine. `sample` is a snapshot of this machine. Shows a progress line.
// If `with_caches`, also reads the slab caches of polluted pageblocks from the kernel's memory, or stores why this
// failed. Returns nothing if Ctrl+C stopped the reading. Throws Error if the kernel's files cannot be read.
std::optional<PageCensus> count_pages(const StateSample& sample, std::uint32_t page_size, bool with_caches);

}  // namespace kmt
