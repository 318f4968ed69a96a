// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// The balance sheet, and the slab caches as it counts them. Throws Error where meminfo says no MemTotal.
SnapshotResult take_stock(KernelMemory&& memory);
// Returns the changes from one to the other.
SnapshotDiff diff(const SnapshotResult& a, const SnapshotResult& b);

}  // namespace kmt
