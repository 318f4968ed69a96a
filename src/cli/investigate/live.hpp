// SPDX-License-Identifier: GPL-2.0-or-later
// Investigates the running kernel. Uses the sources that this process has permission for, and stays within the CPU
// budget.
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
  InvestigationEvidence evidence;  // the evidence without the trace
  KernelDescription kernel;
  StateSample before;
  StateSample after;
  SnapshotResult stock_before;  // the state of memory in `before` and `after`
  SnapshotResult stock_after;   // with the census of page frames, if they were counted
  double seconds_between_snapshots = 0;
  std::optional<CensusChange> census;
  std::uint64_t start_unix_ns = 0;
  double recorded_seconds = 0;  // duration of the recording; 0: there is no trace
  bool trace_has_stacks = false;
  std::vector<std::string> written;  // names of the files written into the folder
  bool interrupted = false;          // by Ctrl+C
  std::vector<UnseenSource> unseen;  // sources in the plan that turned out to be unavailable
  InvestigationCost cost;
};

// Runs until the time is over or until Ctrl+C. If neither samples nor a recording are available, it also ends when the
// CPU budget is used up. Writes before.kmt, profile.kmt, trace.kmt and after.kmt into the folder. Throws Error if a
// file cannot be written.
WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan,
                           const InterruptGuard& interrupt);

}  // namespace kmt
