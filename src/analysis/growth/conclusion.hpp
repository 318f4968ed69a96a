// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict of an investigation.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// Uses everything in a result except itself and the commands.
Conclusion conclude(const InvestigationResult& result);

}  // namespace kmt
