// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses what an exact recording covers.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the caches, sizes and page orders that a recording should cover because they may grow according to samples or
// the kernel's account. The most likely ones are first, limited to what the kernel can filter by. Empty if nothing may
// grow.
Narrowing narrow(const InvestigationEvidence& evidence);

}  // namespace kmt
