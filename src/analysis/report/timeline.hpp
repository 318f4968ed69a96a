// SPDX-License-Identifier: GPL-2.0-or-later
// The course of a trace in time, and the balance between what the kernel says of its memory and what the trace
// explains.
#pragma once

#include "results/report/timeline.hpp"

namespace kmt {

struct TimelineRequest {
  std::size_t top = 5;        // groups of each allocator
  std::size_t buckets = 512;  // at most
  bool balances = true;       // false where only a part of the trace is seen
};

// The report must have histories.
TimelineResult timeline_of(ReportResult report, const TimelineRequest& request);

}  // namespace kmt
