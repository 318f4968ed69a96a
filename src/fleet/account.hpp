// SPDX-License-Identifier: GPL-2.0-or-later
// Loads the kernel's account of its memory into the server of a fleet, and queries the accounts.
#pragma once

#include "fleet/export.hpp"
#include "fleet/queries.hpp"
#include "results/fleet/account.hpp"
#include "results/snapshot/series.hpp"

namespace kmt {

// Loads the amounts of a series, and the verdicts on their growth. Returns the number of loaded rows. If the server
// already has the rows, changes nothing and returns 0. Throws Error.
std::uint64_t load_account(const ServerAddress& address, const FleetTrace& trace, const SnapshotSeries& series);

// Throws Error, also if the server has no matching account. `since` and `until` select files that started in that time.
FleetAccount fleet_account(ClickHouse& server, const FleetSelection& selection);

}  // namespace kmt
