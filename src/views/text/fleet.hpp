// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the results of `fleet` as text.
#pragma once

#include <string>

#include "results/fleet/account.hpp"
#include "views/common/fleet_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_fleet(const FleetReport& report, const FleetOptions& options, const TextStyle& style);
std::string text_fleet(const FleetLeaks& leaks, const FleetOptions& options, const TextStyle& style);
std::string text_fleet(const FleetDiff& diff, const FleetOptions& options, const TextStyle& style);
std::string text_fleet(const FleetTraces& traces, const FleetOptions& options, const TextStyle& style);
// Shows only amounts that grow.
std::string text_fleet(const FleetAccount& account, const FleetOptions& options, const TextStyle& style);

}  // namespace kmt
