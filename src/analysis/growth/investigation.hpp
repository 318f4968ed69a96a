// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what grows, based on the kernel's own account, samples and a recording. If possible, each cluster is judged
// twice: over time (analysis/series/trend) and against the other sources. Each source alone is misleading. In a
// recording, objects that outlive it look like growth. The kernel's account names no tasks. Samples are few.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

Judgement judge(const InvestigationEvidence& evidence);
// Adds the names of merged caches to caches, from a snapshot of the same kernel.
void name_merged(const SnapshotResult& snapshot, Judgement& judgement);

}  // namespace kmt
