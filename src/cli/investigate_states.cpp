// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_states.hpp"

#include <algorithm>
#include <string>

#include "analysis/memory_series.hpp"
#include "analysis/snapshot.hpp"
#include "base/error.hpp"
#include "results/investigation.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size) {
  std::vector<MemorySeries> all = memory_series_of(states, page_size);
  MemorySeries unaccounted{MemorySource::meminfo, std::string(kUnaccounted), {}};
  for (const StateSample& state : states) {
    if (text_of(state, "zoneinfo").empty()) continue;
    try {
      const SnapshotResult stock = take_stock(parse_snapshot(state, page_size));
      const auto line = std::ranges::find(stock.sheet, kUnaccounted, &BalanceLine::id);
      if (line != stock.sheet.end()) unaccounted.points.push_back({state.ticks, static_cast<double>(line->bytes)});
    } catch (const Error&) {  // a copy without MemTotal: its other files tell what they can
      continue;
    }
  }
  if (!unaccounted.points.empty()) all.push_back(std::move(unaccounted));
  return all;
}

}  // namespace kmt
