// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the objects that are older than a trace. The first sample contains their number if it was taken before the
// first event.
#pragma once

#include <cstdint>
#include <vector>

#include "results/report/older_objects.hpp"
#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// `frees` is the number of frees of older slab objects, by ID in TraceTables::cache_names. `first_ns` is the time of
// the first event.
OlderObjectsOfTrace older_objects(const TraceInfo& info, const std::vector<std::uint64_t>& frees,
                                  std::uint64_t first_ns);

// Adds a finding for each cache with more frees of older objects than objects at the start.
void add_findings(const OlderObjectsOfTrace& older, Findings& findings);

}  // namespace kmt
