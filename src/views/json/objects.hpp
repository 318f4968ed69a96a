// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the kinds of objects in slab caches as JSON (docs/formats/objects-json.md).
#pragma once

#include <string>

#include "results/snapshot/object_kinds.hpp"
#include "views/common/snapshot_options.hpp"

namespace kmt {

std::string json_objects(const ObjectsReport& report, const SnapshotOptions& options);

}  // namespace kmt
