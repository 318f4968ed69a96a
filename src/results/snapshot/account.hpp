// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own account of its memory, as `serve` exports it.
#pragma once

#include <vector>

#include "results/snapshot/page_census.hpp"
#include "results/snapshot/snapshot.hpp"

namespace kmt {

// The fragmentation of a zone for allocations of one order.
struct OrderFragmentation {
  unsigned order = 0;
  ZoneFragmentation zone;
};

struct MemoryAccount {
  SnapshotResult snapshot;
  std::vector<OrderFragmentation> fragmentation;
};

}  // namespace kmt
