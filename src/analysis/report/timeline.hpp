// SPDX-License-Identifier: GPL-2.0-or-later
// Computes memory over time. Compares the kernel's counters with the events of the trace.
#pragma once

#include "results/report/timeline.hpp"

namespace kmt {

struct TimelineRequest {
  std::size_t top = 5;        // maximum number of groups for each allocator
  std::size_t buckets = 512;  // maximum number of time buckets in the result
  bool balances = true;       // true: compare counters with events; requires that the analysis covers the whole trace
};

// Returns the memory over time of a report, which must contain histories.
TimelineResult timeline_of(ReportResult report, const TimelineRequest& request);

}  // namespace kmt
