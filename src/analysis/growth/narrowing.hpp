// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which caches, sizes and page orders an exact recording covers.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the caches, sizes and page orders that may grow according to samples or the kernel's counters. A recording
// should cover them. The most likely ones are first. A kernel event filter limits their number. Empty if nothing may
// grow.
Narrowing narrow(const InvestigationEvidence& evidence);

}  // namespace kmt
