// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/simulation/simulation.hpp"
#include "views/common/simulation_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_simulation(const SimulationResult& result, const SimulationOptions& options, const TextStyle& style);

}  // namespace kmt
