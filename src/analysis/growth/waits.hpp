// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether tasks waited long for memory during an investigation.
#pragma once

#include "results/growth/investigation.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Adds the share of the time in which tasks waited between two states of memory, and whether it is long. `seconds` is
// the time between these two states; 0: unknown. Without this time, or if a state lacks /proc/pressure/memory, adds
// nothing.
void add_waiting_share(const KernelMemory& before, const KernelMemory& after, double seconds, InvestigatedWaits& waits);

}  // namespace kmt
