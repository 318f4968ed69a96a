// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <vector>

#include "results/snapshot/health.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json json_health(const std::vector<HealthCheck>& checks);  // an array, in the order of HealthTopic

}  // namespace kmt
