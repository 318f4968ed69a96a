// SPDX-License-Identifier: GPL-2.0-or-later
// The events of an exact recording that is narrowed, in the kernel, to what grows.
#pragma once

#include <string>

#include "cli/record/request.hpp"
#include "results/growth/investigation.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Adds them to `options`, each with its filter. `snapshot` tells the sizes of caches, which kernels that name no caches
// where they allocate are asked for. Throws Error where the kernel cannot be asked for any of it.
void select_events(const Narrowing& narrowing, const std::string& tracefs, const StateSample& snapshot,
                   RecordOptions& options);

}  // namespace kmt
