// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the kinds of objects in slab caches as text.
#pragma once

#include <string>

#include "results/snapshot/object_kinds.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_objects(const ObjectsReport& report, const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
