// SPDX-License-Identifier: GPL-2.0-or-later
// Samples the objects of large and growing slab caches, for `investigate`.
#pragma once

#include "results/growth/investigation.hpp"

namespace kmt {

// CPU seconds that sampling the objects of large caches takes. The fixed part is for reading symbols and types.
inline constexpr double kSecondsOfObjects = 0.6;

// Sets the large caches of the result. If the machine was watched, samples their objects, within the CPU budget. If
// they cannot be sampled, adds the reason to the unseen sources.
void inspect_large_caches(const SnapshotResult& after, InvestigationResult& result);

}  // namespace kmt
