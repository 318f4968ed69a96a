// SPDX-License-Identifier: GPL-2.0-or-later
// Returns the amounts in each part of a snapshot by name, to compare snapshots.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

using SnapshotAmounts = std::map<std::string, std::int64_t>;

// Amounts are in bytes, but slab_allocations are numbers of objects. balance_sheet has the lines by ID, and cgroups
// include kernel and user memory.
SnapshotAmounts amounts_of(SnapshotPart part, const SnapshotResult& result);

// True if the snapshot contains the complete part, so that a missing name means 0.
bool is_known(SnapshotPart part, const SnapshotResult& result);

}  // namespace kmt
