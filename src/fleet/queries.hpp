// SPDX-License-Identifier: GPL-2.0-or-later
// Queries of a fleet's server: each report is one text of sql/ and a reader of its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/clickhouse.hpp"
#include "results/fleet/fleet.hpp"

namespace kmt {

// A selection of the traces of a fleet; empty members select all.
struct FleetSelection {
  std::vector<std::string> hosts;      // globs with * and ?, any of which
  std::vector<std::string> kernels;    // likewise
  std::optional<std::uint32_t> since;  // seconds since 1970
  std::optional<std::uint32_t> until;  // exclusive
};

// All throw Error. Groups are by as many keys as are given; of a report times select what happened in them, of all
// others the traces that began in them.
FleetReport fleet_report(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
FleetLeaks fleet_leaks(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
// Compares the parts a and b of `both`; counts are divided by the total seconds of each side's traces.
FleetDiff fleet_diff(ClickHouse& server, const FleetSelection& both, const FleetSelection& a, const FleetSelection& b,
                     std::vector<const FleetKeyInfo*> by);
FleetTraces fleet_traces(ClickHouse& server, const FleetSelection& selection);

}  // namespace kmt
