// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what grows, based on the kernel's own counters, samples and a recording. If possible, each cluster is tested
// twice: for growth over time (analysis/series/trend) and against the other sources. Each source alone is misleading.
// In a recording, objects that live longer than the recording look like growth. The kernel's counters do not name
// tasks. Samples are few.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

Judgement judge(const InvestigationEvidence& evidence);
// Fills in the names of merged caches and of Kubernetes pods from a snapshot of the same kernel.
void add_names(const SnapshotResult& snapshot, Judgement& judgement);

}  // namespace kmt
