// SPDX-License-Identifier: GPL-2.0-or-later
// The part of `investigate` on the running kernel: watches it with the available permissions, within the CPU budget.
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
  InvestigationEvidence evidence;  // the trace is not read yet
  KernelDescription kernel;
  StateSample before;
  StateSample after;
  std::uint64_t start_unix_ns = 0;
  double recorded_seconds = 0;  // 0: there is no trace
  bool trace_has_stacks = false;
  std::vector<std::string> written;  // names of files in the folder
  bool interrupted = false;          // by Ctrl+C
  std::vector<UnseenSource> unseen;  // those not known to the plan
  InvestigationCost cost;
};

// Runs until the end of the time or Ctrl+C; without samples and recording, also until the CPU budget is used. Writes
// before.kmt, profile.kmt, trace.kmt and after.kmt into the folder. Throws Error if a file cannot be written.
WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan,
                           const InterruptGuard& interrupt);

}  // namespace kmt
