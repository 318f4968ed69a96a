// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses what an exact recording covers.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the caches, sizes and page orders that may grow according to samples or the kernel's counters. A recording
// should cover them. The most likely ones are first; the number is limited to what a kernel event filter can hold.
// Empty if nothing may grow.
Narrowing narrow(const InvestigationEvidence& evidence);

}  // namespace kmt
