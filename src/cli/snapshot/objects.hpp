// SPDX-License-Identifier: GPL-2.0-or-later
// Names what fills slab caches of the running machine, for `snapshot --objects`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reading/live_objects.hpp"

namespace kmt {

// Samples the caches. Shows a progress line. Returns nothing if Ctrl+C stopped the reading. Throws the errors of
// sample_objects().
std::optional<ObjectsReport> sample_caches(const std::vector<std::string>& names, const ObjectLimits& limits);

}  // namespace kmt
