// SPDX-License-Identifier: GPL-2.0-or-later
// How the kernel's memory stands now: the texts of /proc/meminfo, vmstat, buddyinfo and slabinfo.
#pragma once

#include "trace/state_sample.hpp"

namespace kmt {

// What cannot be read is left out. The wall clock is set, the ticks are the caller's.
StateSample sample_memory_state();

}  // namespace kmt
