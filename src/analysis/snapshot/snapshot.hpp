// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Computes the balance sheet, the list of slab caches and the share of each cache. Throws Error if meminfo lacks
// MemTotal or another necessary line.
SnapshotResult take_stock(KernelMemory&& memory);
// Returns the changes from snapshot `a` to `b`.
SnapshotDiff diff(const SnapshotResult& a, const SnapshotResult& b);

}  // namespace kmt
