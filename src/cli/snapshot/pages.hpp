// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the page frames of the running machine for `snapshot --pages`.
#pragma once

#include <memory>

#include "results/snapshot/snapshot.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Reads the state of all page frames, and compares it with `snapshot`, which must have been made from `sample` just
// before this call. Shows a progress line. Returns null if Ctrl+C stopped the reading. Throws Error if the kernel's
// files cannot be read.
std::shared_ptr<const PageCensus> count_pages(const SnapshotResult& snapshot, const StateSample& sample);

}  // namespace kmt
