// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses what an exact recording looks at.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns what a recording should be narrowed to: what may grow by samples or by the kernel's account, the likeliest
// first, as much as the kernel can filter by. Empty: nothing may grow.
Narrowing narrow(const InvestigationEvidence& evidence);

}  // namespace kmt
