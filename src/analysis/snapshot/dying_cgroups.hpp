// SPDX-License-Identifier: GPL-2.0-or-later
// Finds removed cgroups that still hold memory. The kernel keeps such a cgroup until its last page or object is freed,
// and counts it in cgroup.stat of all its ancestors (kernel/cgroup/cgroup.c, cgroup_stat_show(); Linux 4.14 and later).
#pragma once

#include <vector>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Returns a row for each cgroup that still exists and has removed children or descendants of removed children. Sorted
// by count, the largest first.
std::vector<DyingCgroups> dying_cgroups(const std::vector<CgroupMemory>& cgroups);

}  // namespace kmt
