// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots as files.
#pragma once

#include <string>

#include "results/snapshot.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state_sample.hpp"

namespace kmt {

// Whether it is a snapshot, and no trace. False for what cannot be opened.
bool is_snapshot_file(const std::string& path);
// The last snapshot of a file, or the last sample of a trace. Throws Error.
SnapshotResult read_snapshot(const std::string& path);
// It is written beside its place first, so that nobody sees half of it. Throws Error.
void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel);

}  // namespace kmt
