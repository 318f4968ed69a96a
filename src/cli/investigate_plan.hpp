// SPDX-License-Identifier: GPL-2.0-or-later
// What `investigate` is going to do on the running kernel, and what that takes.
#pragma once

#include <cstdint>
#include <string>

#include "results/investigation.hpp"

namespace kmt {

struct LiveInvestigation {
  double seconds = 0;    // to watch
  double cpu_share = 0;  // of the machine, at most
  double threshold_bytes_per_s = 0;
  std::string folder;  // for what is written
};

// Seconds of CPU time: upper ends of what bench/watching and bench/overhead show on x86-64. In the kernel:
inline constexpr double kSecondsOfASample = 4e-6;
inline constexpr double kSecondsOfAnEvent = 0.4e-6;
inline constexpr double kSecondsOfAStack = 1.6e-6;
inline constexpr double kSecondsOfReading = 0.3e-6;  // an event of a recording, here
inline constexpr double kSecondsOfAState = 3e-3;
// What beginning and ending cost at any rate: loading programs, two snapshots, names; reading a recording, the page.
inline constexpr double kFixedSeconds = 0.8;
inline constexpr double kSecondsAtTheEnd = 0.4;  // of these
inline constexpr double kSecondsToRecord = 0.4;  // to begin and to end a recording

inline constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// Of CPU time, that may be taken in all.
double most_cpu_seconds(const LiveInvestigation& request);

// By looking at what is permitted here.
InvestigationPlan plan_investigation(const LiveInvestigation& request);

}  // namespace kmt
