// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `fleet --json`. docs/formats/fleet-json.md has its schema.
#pragma once

#include <string>

#include "results/fleet/account.hpp"
#include "views/common/fleet_options.hpp"

namespace kmt {

std::string json_fleet(const FleetReport& report, const FleetOptions& options);
std::string json_fleet(const FleetLeaks& leaks, const FleetOptions& options);
std::string json_fleet(const FleetDiff& diff, const FleetOptions& options);
std::string json_fleet(const FleetTraces& traces, const FleetOptions& options);
std::string json_fleet(const FleetAccount& account, const FleetOptions& options);

}  // namespace kmt
