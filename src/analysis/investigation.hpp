// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what grows, of what the kernel's own account, samples and a recording say. Everything is judged twice at
// least where that can be: by analysis/trend over time, and against the other sources, since each of them alone is
// misled by something: a recording takes what lives longer than it for growth, the kernel's account knows nobody, and
// samples are few.
#pragma once

#include "results/investigation.hpp"

namespace kmt {

// What a recording should be narrowed to: what may grow by samples or by the kernel's account, the likeliest first and
// not more than the kernel can filter by. Empty: nothing may grow.
Narrowing narrow(const InvestigationEvidence& evidence);

Judgement judge(const InvestigationEvidence& evidence);

// Commands that tell more of what was found, or of what could not be seen.
std::vector<std::string> next_commands(const InvestigationResult& result);

}  // namespace kmt
