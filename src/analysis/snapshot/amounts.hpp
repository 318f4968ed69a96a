// SPDX-License-Identifier: GPL-2.0-or-later
// Returns the amounts in each part of a snapshot by name. Snapshots are compared by these names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

using SnapshotAmounts = std::map<std::string, std::int64_t>;

// Returns bytes, except for slab_allocations: these are numbers of objects. For balance_sheet, the names are the IDs of
// the lines. For cgroups, the amounts include kernel and user memory.
SnapshotAmounts amounts_of(SnapshotPart part, const SnapshotResult& result);

// True if the snapshot contains the whole part. A name that is missing then means 0.
bool is_known(SnapshotPart part, const SnapshotResult& result);

// True if slabinfo is cut off or was filtered.
bool lacks_caches(const KernelMemory& memory);

}  // namespace kmt
