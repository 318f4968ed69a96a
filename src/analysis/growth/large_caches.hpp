// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the slab caches whose objects an investigation samples.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns growing caches whose growth no finding explains, and caches with much unreclaimable memory. At most three,
// the largest first.
std::vector<LargeCache> large_caches(const SnapshotResult& snapshot, const Judgement& judgement);

}  // namespace kmt
