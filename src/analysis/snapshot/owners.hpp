// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <vector>

#include "results/snapshot/owners.hpp"

namespace kmt {

// Returns the owners whose amount differs between two snapshots, including those that are only in one of them. The
// largest growth comes first.
std::vector<OwnerGrowth> growth_of_owners(const std::vector<MemoryOwner>& before,
                                          const std::vector<MemoryOwner>& after);

}  // namespace kmt
