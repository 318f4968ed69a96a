// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the slabs of caches among the page frames of the machine. Full slabs are in no list of their cache, so the
// flags of the page frames show where slabs are (KPF_SLAB in fs/proc/page.c of Linux 6.1, 6.12 and 7.3).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "snapshot/frames/frames.hpp"
#include "snapshot/objects/sample.hpp"
#include "snapshot/objects/slabs.hpp"

namespace kmt {

// Looks at page frames in random order, until `wanted` slabs of each cache are found, or all frames were seen. Calls
// proceed(share of the frames that were seen) often, and stops if it returns false. Returns a collection for each
// cache.
std::vector<SlabCollection> collect_slabs(Slabs& slabs, FrameFiles& frames, std::span<const SlabCache* const> caches,
                                          std::size_t wanted, const std::function<bool(double)>& proceed);

}  // namespace kmt
