// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the numbers of a snapshot with the limits in results/snapshot/health.hpp.
#pragma once

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Returns all checks in the order of HealthTopic. Needs the balance sheet, caches and dying cgroups of the snapshot.
std::vector<HealthCheck> health_of(const SnapshotResult& snapshot);

}  // namespace kmt
