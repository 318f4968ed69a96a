// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/simulation/simulation.hpp"
#include "views/common/simulation_options.hpp"

namespace kmt {

// The document of docs/formats/simulate-json.md.
std::string json_simulation(const SimulationResult& result, const SimulationOptions& options);

}  // namespace kmt
