// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the kinds of objects in slab caches as JSON (docs/formats/objects-json.md).
#pragma once

#include <cstddef>
#include <string>

#include "results/snapshot/object_kinds.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/json/common.hpp"

namespace kmt {

std::string json_objects(const ObjectsReport& report, const SnapshotOptions& options);
// Returns the element of a cache in `caches`, with at most `shown` kinds.
Json json_cache_kinds(const CacheKinds& cache, ReadingEnd end, std::size_t shown);

}  // namespace kmt
