// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the group with most live memory that the kernel cannot reclaim, and the process that allocated most of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "results/report/live_count.hpp"
#include "results/report/report.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct MostLiveSources {
  const std::vector<Origin>& origins;         // index: number of the origin; origins have their process
  const std::vector<LiveCount>& live;         // index: number of the origin; excludes pages
  const std::vector<LiveCount>& maybe_freed;  // index: group
  const Grouping& grouping;
  const TraceInfo& info;
  const SymbolNames& symbols;
};

// Returns the group with most live memory that the kernel cannot reclaim. Stores its number in `group`, but does not
// set its name. Empty if no such memory is live. Call this function after the last event.
std::optional<MostLive> most_live(const MostLiveSources& sources, std::uint32_t& group);

}  // namespace kmt
