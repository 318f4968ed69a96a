// SPDX-License-Identifier: GPL-2.0-or-later
// Finds parts of the traced system that the recording left out.
#pragma once

#include "analysis/matching/trace_summary.hpp"
#include "results/report/report.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Adds a finding for each allocator whose frees were not recorded. A kfree event counts as a free of both kinds of slab
// objects, because kfree() also frees objects of caches.
void add_missing_frees(const TraceInfo& info, const EventCounts& seen, ReportResult& result);

// Adds a finding for each key of the result for which this kind of recording has no data.
void add_missing_causes(const TraceInfo& info, const EventCounts& seen, ReportResult& result);

}  // namespace kmt
