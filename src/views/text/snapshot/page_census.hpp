// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a census of page frames as text.
#pragma once

#include <string>

#include "results/snapshot/page_census.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the sections of the census. `total` is MemTotal in bytes.
std::string text_page_census(const PageCensus& census, const KernelMemory& memory, std::uint64_t total,
                             const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
