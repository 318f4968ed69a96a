// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the events of an exact recording, which has all events of the growing memory. Filters in the kernel exclude
// other memory.
#pragma once

#include <string>

#include "cli/record/request.hpp"
#include "results/growth/investigation.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Adds the events to `options`, each with a filter. `snapshot` has the sizes of objects in caches, for kernels whose
// allocation events do not name caches. Throws Error if the kernel has none of these events.
void select_events(const Narrowing& narrowing, const std::string& tracefs, const StateSample& snapshot,
                   RecordOptions& options);

}  // namespace kmt
