// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what grows, from the kernel's own account, samples and a recording. If possible, everything is judged at
// least twice: over time, by analysis/series/trend, and against the other sources. Each source alone is misleading: a
// recording takes objects that outlive it for growth, the kernel's account names no tasks, and samples are few.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

Judgement judge(const InvestigationEvidence& evidence);
// Adds to caches the names of those merged with them, from a snapshot of the same kernel.
void name_merged(const SnapshotResult& snapshot, Judgement& judgement);

}  // namespace kmt
