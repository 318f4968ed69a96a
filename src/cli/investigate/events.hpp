// SPDX-License-Identifier: GPL-2.0-or-later
// The events of an exact recording, narrowed in the kernel to the growing memory.
#pragma once

#include <string>

#include "cli/record/request.hpp"
#include "results/growth/investigation.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Adds them to `options`, each with its filter. `snapshot` has the sizes of caches, for kernels whose allocation events
// do not name caches. Throws Error if the kernel has none of these events.
void select_events(const Narrowing& narrowing, const std::string& tracefs, const StateSample& snapshot,
                   RecordOptions& options);

}  // namespace kmt
