// SPDX-License-Identifier: GPL-2.0-or-later
// Queries to a fleet server. Each report has one query in sql/, and a function that reads the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/clickhouse.hpp"
#include "results/fleet/fleet.hpp"

namespace kmt {

// Selects traces of a fleet. A member that is empty does not restrict the selection.
struct FleetSelection {
  std::vector<std::string> hosts;      // globs with the wildcards * and ?; a host must match one of them
  std::vector<std::string> kernels;    // globs for kernel releases
  std::optional<std::uint32_t> since;  // seconds since 1970
  std::optional<std::uint32_t> until;  // exclusive
};

// Returns an SQL condition for a selection. `time` is the column to which --since and --until apply.
std::string condition_of(const FleetSelection& selection, std::string_view time);
// Returns the selection as text for the user. Empty if it selects all.
std::string words_of(const FleetSelection& selection);

// The following functions query the server, and throw Error. Rows are grouped by the keys in `by`. In reports, `since`
// and `until` select events. In the other queries, they select traces that started in that time.
FleetReport fleet_report(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
FleetLeaks fleet_leaks(ClickHouse& server, const FleetSelection& selection, std::vector<const FleetKeyInfo*> by);
// Compares the selections `a` and `b` within `both`. On each side, counts are divided by the total number of recorded
// seconds.
FleetDiff fleet_diff(ClickHouse& server, const FleetSelection& both, const FleetSelection& a, const FleetSelection& b,
                     std::vector<const FleetKeyInfo*> by);
FleetTraces fleet_traces(ClickHouse& server, const FleetSelection& selection);

}  // namespace kmt
