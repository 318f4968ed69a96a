// SPDX-License-Identifier: GPL-2.0-or-later
// Writes counts of the objects of slab caches. docs/formats/stat-json.md describes the keys.
#pragma once

#include "trace/state/cache_counts.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json to_json(const CacheCount& cache);
// Adds the key `caches`, and the keys of add_uncounted().
void add_caches(Json& json, const CacheCounts& caches);
// Adds the keys that start with `uncounted_`.
void add_uncounted(Json& json, const UncountedObjects& uncounted);

}  // namespace kmt
