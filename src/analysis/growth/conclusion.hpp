// SPDX-License-Identifier: GPL-2.0-or-later
// Decides the verdict of an investigation.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the conclusion. Uses all members of the result except its conclusion and commands.
Conclusion conclude(const InvestigationResult& result);

}  // namespace kmt
