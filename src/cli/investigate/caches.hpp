// SPDX-License-Identifier: GPL-2.0-or-later
// Samples the objects of large and growing slab caches, for `investigate`.
#pragma once

#include <optional>
#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

// CPU seconds that sampling the objects of large caches takes. The fixed part is for reading symbols and types.
inline constexpr double kSecondsOfObjects = 0.6;

// Sets the large caches of the result. If this run watched the machine, samples their objects, within the CPU budget.
// Otherwise, reads the kinds of objects from `objects`, the path of a file that an earlier run wrote
// (cli/investigate/sampled_caches.hpp), or empty. Returns which objects could not be read, and why.
std::optional<UnseenSource> inspect_large_caches(const SnapshotResult& after, const std::string& objects,
                                                 InvestigationResult& result);

}  // namespace kmt
