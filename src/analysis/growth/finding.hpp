// SPDX-License-Identifier: GPL-2.0-or-later
// Describes a finding: how much memory grows, where it is allocated, and by which tasks.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// Fills in all members except the finding's caches. `others` are groups whose caches were not recorded. Only their call
// sites are added to the finding.
void describe_finding(const GrowthSeen& seen, const std::vector<const GrowthGroup*>& groups,
                      const std::vector<const GrowthGroup*>& others, GrowthFinding& finding);

// Adds the names of threads in `groups` to the entries of their processes.
void add_threads(const std::vector<const GrowthGroup*>& groups, std::vector<FindingProcess>& processes);

}  // namespace kmt
