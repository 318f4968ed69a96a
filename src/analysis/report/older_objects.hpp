// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the slab objects that are older than a trace. Their number is in the first sample of slabinfo, if this sample
// was taken before the trace's first event.
#pragma once

#include <cstdint>
#include <vector>

#include "results/report/older_objects.hpp"
#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Returns, for each cache, the number of objects that are older than the trace, and how many of them were freed.
// `frees` has the number of frees of objects from before the trace, indexed by ID in TraceTables::cache_names.
// `first_ns` is the time of the first event.
OlderObjectsOfTrace older_objects(const TraceInfo& info, const std::vector<std::uint64_t>& frees,
                                  std::uint64_t first_ns);

// Adds a finding for each cache if the trace frees more of its older objects than existed at the start.
void add_findings(const OlderObjectsOfTrace& older, Findings& findings);

}  // namespace kmt
