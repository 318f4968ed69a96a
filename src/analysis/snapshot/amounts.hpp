// SPDX-License-Identifier: GPL-2.0-or-later
// The amounts in each part of a snapshot by name, so that snapshots can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

using SnapshotAmounts = std::map<std::string, std::int64_t>;

// Bytes; of slab_allocations objects, of balance_sheet the lines by their ids, of cgroups kernel and user memory.
SnapshotAmounts amounts_of(SnapshotPart part, const SnapshotResult& result);

// True if the snapshot has the whole part: a name that it lacks does not exist then.
bool is_known(SnapshotPart part, const SnapshotResult& result);

}  // namespace kmt
