// SPDX-License-Identifier: GPL-2.0-or-later
// Investigates the running kernel: watches it with the available permissions and within the CPU budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/investigate/plan.hpp"
#include "cli/support/interrupt.hpp"
#include "results/growth/investigation.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct WatchedKernel {
  InvestigationEvidence evidence;  // does not include the trace yet
  KernelDescription kernel;
  StateSample before;
  StateSample after;
  std::uint64_t start_unix_ns = 0;
  double recorded_seconds = 0;  // 0: there is no trace
  bool trace_has_stacks = false;
  std::vector<std::string> written;  // names of the files in the folder
  bool interrupted = false;          // by Ctrl+C
  std::vector<UnseenSource> unseen;  // sources that are unavailable although the plan includes them
  InvestigationCost cost;
};

// Runs until the time is over or until Ctrl+C. If samples and recording are unavailable, also ends when the CPU budget
// is used. Writes before.kmt, profile.kmt, trace.kmt and after.kmt into the folder. Throws Error if a file cannot be
// written.
WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan,
                           const InterruptGuard& interrupt);

}  // namespace kmt
