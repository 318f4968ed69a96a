// SPDX-License-Identifier: GPL-2.0-or-later
// How cycles of the time stamp counter turn into nanoseconds.
#pragma once

#include <optional>
#include <string>

#include "trace/clock_scale.hpp"

namespace kmt {

// From the first page of a perf event (struct perf_event_mmap_page, cap_user_time); empty where the kernel does not
// say.
std::optional<ClockScale> tsc_scale();

// Of a trace clock: only x86-tsc needs one. Throws Error when it needs one that is not known.
ClockScale scale_of_clock(const std::string& clock);

}  // namespace kmt
