// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns all of MemTotal, each page to one line. docs/formats/snapshot-json.md, "The balance sheet", has the
// definitions.
#pragma once

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// The lines of depth 0 add up to `total`, those of depth 1 to the line above them; remarks aside.
std::vector<BalanceLine> balance_sheet(const KernelMemory& memory, const std::vector<SlabCacheUse>& caches,
                                       std::uint64_t total);

}  // namespace kmt
