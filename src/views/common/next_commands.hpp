// SPDX-License-Identifier: GPL-2.0-or-later
// Shell commands that show more about the findings of an investigation, or that collect data which the investigation
// could not read.
#pragma once

#include <string>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

std::vector<std::string> next_commands(const InvestigationResult& result);

}  // namespace kmt
