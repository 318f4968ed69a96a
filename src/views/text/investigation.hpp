// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/growth/investigation.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the result as about one page of text.
std::string text_investigation(const InvestigationResult& result, const TextStyle& style);
// Returns the plan and the estimated cost. Does not run anything.
std::string text_investigation_plan(const InvestigationPlan& plan, const TextStyle& style);

}  // namespace kmt
