// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/simulation/simulation.hpp"
#include "views/common/simulation_options.hpp"

namespace kmt {

// Returns the document that docs/formats/simulate-json.md describes.
std::string json_simulation(const SimulationResult& result, const SimulationOptions& options);

}  // namespace kmt
