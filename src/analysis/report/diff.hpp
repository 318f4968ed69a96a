// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the reports on two traces: matches groups with equal names. The traces may be from different kernels.
#pragma once

#include <optional>
#include <string>

#include "results/report/diff.hpp"

namespace kmt {

struct DiffRequest {
  // True: match call sites by symbol and offset. This requires the same build of the kernel. False: match by symbol
  // alone.
  bool exact = false;
  // Empty: choose DiffPer::second if the durations differ considerably, else DiffPer::trace.
  std::optional<DiffPer> per;
  std::string event;  // only for DiffPer::event: "sched_process_fork" or "sched:sched_process_fork"
};

// Compares two reports, which must have the same keys. Throws Error if the counts cannot be divided as requested.
DiffResult diff(const ReportResult& a, const ReportResult& b, const DiffRequest& request);

}  // namespace kmt
