// SPDX-License-Identifier: GPL-2.0-or-later
// How much of what grows there is, where, and by whom.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// Describes all but its caches. `others` have call sites in it and nothing else: what was not recorded.
void describe_finding(const GrowthSeen& seen, const std::vector<const GrowthGroup*>& groups,
                      const std::vector<const GrowthGroup*>& others, GrowthFinding& finding);

}  // namespace kmt
