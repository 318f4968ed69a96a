// SPDX-License-Identifier: GPL-2.0-or-later
// Objects that were allocated before a trace. The trace's first sample has their number if it was taken before the
// first event.
#pragma once

#include <cstdint>
#include <vector>

#include "results/report/older_objects.hpp"
#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// `frees` of older slab objects, by the ids of TraceTables::cache_names; `first_ns`: of the first event.
OlderObjectsOfTrace older_objects(const TraceInfo& info, const std::vector<std::uint64_t>& frees,
                                  std::uint64_t first_ns);

// A cache had more frees of older objects than objects at the start.
void add_findings(const OlderObjectsOfTrace& older, Findings& findings);

}  // namespace kmt
