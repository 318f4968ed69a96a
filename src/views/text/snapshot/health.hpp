// SPDX-License-Identifier: GPL-2.0-or-later
// Writes health checks of kernel memory as text.
#pragma once

#include <string>
#include <vector>

#include "results/snapshot/health.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a table of all checks with a known result, and the reasons of those that are not ok.
std::string text_health(const std::vector<HealthCheck>& checks, const TextStyle& style);
// Returns the lines of the checks that are not ok, with their reasons. Empty if there are none.
std::string text_warnings(const std::vector<HealthCheck>& checks, const TextStyle& style);
// Returns "2 bad, 1 warn, 13 ok, 1 unknown".
std::string health_summary(const std::vector<HealthCheck>& checks);

}  // namespace kmt
