// SPDX-License-Identifier: GPL-2.0-or-later
// Queries to a fleet server. Each report has one query in sql/ and a reader of its answer.
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
  std::vector<std::string> hosts;      // globs with * and ?; one of them must match
  std::vector<std::string> kernels;    // likewise
  std::optional<std::uint32_t> since;  // seconds since 1970
  std::optional<std::uint32_t> until;  // exclusive
};

// All functions throw Error. Groups have the keys of `by`. In reports, `since` and `until` select events; in the other
// queries, they select traces that started in that time.
FleetReport fleet_report(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
FleetLeaks fleet_leaks(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
// Compares the parts `a` and `b` of `both`. Counts are divided by the total recorded seconds of each side's traces.
FleetDiff fleet_diff(ClickHouse& server, const FleetSelection& both, const FleetSelection& a, const FleetSelection& b,
                     std::vector<const FleetKeyInfo*> by);
FleetTraces fleet_traces(ClickHouse& server, const FleetSelection& selection);

}  // namespace kmt
