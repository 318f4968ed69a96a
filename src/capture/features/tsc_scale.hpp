// SPDX-License-Identifier: GPL-2.0-or-later
// Converts cycles of the time stamp counter to nanoseconds.
#pragma once

#include <optional>
#include <string>

#include "trace/clock_scale.hpp"

namespace kmt {

// Reads the scale from the first page of a perf event (struct perf_event_mmap_page, cap_user_time); empty if the kernel
// does not state it.
std::optional<ClockScale> tsc_scale();

// Returns the scale of a trace clock. Only x86-tsc needs a scale. Throws Error if the scale is needed but unknown.
ClockScale scale_of_clock(const std::string& clock);

}  // namespace kmt
