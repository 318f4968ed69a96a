// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the reports on two traces, which may be of different kernels, by what groups are called.
#pragma once

#include <optional>
#include <string>

#include "results/report/diff.hpp"

namespace kmt {

struct DiffRequest {
  // Whether call sites are joined by symbol and offset, which only the same build of a kernel has in common.
  bool exact = false;
  std::optional<DiffPer> per;  // empty: DiffPer::second where the traces do not last about as long, else DiffPer::trace
  std::string event;           // DiffPer::event: "sched_process_fork" or "sched:sched_process_fork"
};

// Throws Error where counts cannot be divided as asked for. Both reports are of the same keys.
DiffResult diff(const ReportResult& a, const ReportResult& b, const DiffRequest& request);

}  // namespace kmt
