// SPDX-License-Identifier: GPL-2.0-or-later
// Converts ticks of a trace's clock to nanoseconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arithmetic/wide.hpp"

namespace kmt {

struct ClockScale {
  std::uint32_t mult = 0;  // ns = ticks × mult >> shift; 0: ticks are nanoseconds
  std::uint32_t shift = 0;
  std::int64_t offset_ns = 0;  // added to the scaled time

  std::uint64_t to_ns(std::uint64_t ticks) const {
    if (mult != 0) ticks = static_cast<std::uint64_t>((Wide{ticks} * mult) >> shift);
    return ticks + static_cast<std::uint64_t>(offset_ns);
  }
  // Converts a duration in nanoseconds to ticks.
  std::uint64_t to_ticks(std::uint64_t duration_ns) const {
    return mult == 0 ? duration_ns : static_cast<std::uint64_t>((Wide{duration_ns} << shift) / mult);
  }
};

// True if a trace clock counts nanoseconds (trace_clocks[] in kernel/trace/trace.c). Clocks of an architecture, such as
// x86-tsc, count cycles instead.
inline bool ticks_are_ns(std::string_view clock) {
  return clock != "counter" && clock != "uptime" && clock != "x86-tsc" && clock != "ppc-tb";
}

}  // namespace kmt
