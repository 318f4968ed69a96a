// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/growth/investigation.hpp"
#include "views/text/style.hpp"

namespace kmt {

// One page of text.
std::string text_investigation(const InvestigationResult& result, const TextStyle& style);
// The plan and its cost, without running it.
std::string text_investigation_plan(const InvestigationPlan& plan, const TextStyle& style);

}  // namespace kmt
