// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a snapshot, or the changes between two snapshots, as JSON (docs/formats/snapshot-json.md).
#pragma once

#include <string>

#include "views/common/snapshot_options.hpp"
#include "views/json/common.hpp"

namespace kmt {

std::string json_snapshot(const SnapshotResult& result, const SnapshotOptions& options);
Json json_dying_cgroups(const DyingCgroups& dying);
std::string json_snapshot_diff(const SnapshotDiff& diff, const SnapshotOptions& options);

}  // namespace kmt
