// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of a snapshot have by name, so that snapshots can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

using SnapshotAmounts = std::map<std::string, std::int64_t>;

// Bytes; of slab_allocations objects, of balance_sheet the lines by their ids, of cgroups kernel and user memory.
SnapshotAmounts amounts_of(SnapshotPart part, const SnapshotResult& result);

// Whether the snapshot tells of that part, all of it: what it does not name is not there then.
bool is_told(SnapshotPart part, const SnapshotResult& result);

}  // namespace kmt
