// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which caches, sizes and page orders an exact recording covers.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the caches, sizes and page orders that a recording should cover, because their memory may grow according to
// samples or the kernel's counters. Those most likely to grow are first. Their number is limited, because they become
// terms of a kernel event filter. Empty if nothing may grow.
Narrowing narrow(const InvestigationEvidence& evidence);

}  // namespace kmt
