// SPDX-License-Identifier: GPL-2.0-or-later
// Finds which slab caches hold unmovable pages in pageblocks with movable pages.
#pragma once

#include <memory>
#include <vector>

#include "analysis/snapshot/page_counter.hpp"
#include "results/snapshot/page_census.hpp"
#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

// Reads which caches the slabs of the blocks belong to, from the running kernel's memory. Reads with `memory`, or from
// /proc/kcore if `memory` is null, and stops early if this needs too many bytes. Gives up CAP_SYS_RAWIO, which only the
// opening of /proc/kcore needs. Throws Error if the kernel's memory cannot be read.
CachesInBlocks caches_of(const std::vector<MixedBlock>& blocks, std::unique_ptr<KernelReader> memory);

}  // namespace kmt
