// SPDX-License-Identifier: GPL-2.0-or-later
// What an investigation comes to, in words and in commands to go on with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// To watch, in seconds; of less than that it is not said that nothing grows.
inline constexpr double kShortestToTell = 10;

// Of everything in a result but itself and the commands.
Conclusion conclude(const InvestigationResult& result);

// Where the cgroups of none of the processes that were found are known, or where all of them may stand for others. Of
// judgement and `watched`; empty where there is nothing to say.
std::optional<UnseenSource> unknown_cgroups(const InvestigationResult& result);

// Commands that tell more of what was found, or of what could not be seen.
std::vector<std::string> next_commands(const InvestigationResult& result);

}  // namespace kmt
