// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

// Write the documents that docs/formats/investigate-json.md describes.
std::string json_investigation(const InvestigationResult& result);
std::string json_investigation_plan(const InvestigationPlan& plan);

}  // namespace kmt
