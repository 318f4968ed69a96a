// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what grows, of what the kernel's own account, samples and a recording say. Everything is judged twice at
// least where that can be: by analysis/series/trend over time, and against the other sources, since each of them alone
// is misled by something: a recording takes what lives longer than it for growth, the kernel's account knows nobody,
// and samples are few.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

Judgement judge(const InvestigationEvidence& evidence);
// Says of caches which others were merged with them, by a snapshot of that kernel.
void name_merged(const SnapshotResult& snapshot, Judgement& judgement);

}  // namespace kmt
