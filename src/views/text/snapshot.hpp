// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a snapshot, or the changes between two snapshots, as text.
#pragma once

#include <string>

#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_snapshot(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style);
std::string text_snapshot_diff(const SnapshotDiff& diff, const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
