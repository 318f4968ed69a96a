// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the data sources that an investigation could not read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/growth/investigation.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// Returns an entry for each way in which samples were lost.
std::vector<UnseenSource> unseen_of(const HeapLosses& losses, std::uint64_t not_kept);

// Returns an entry if the cgroups of all processes in the findings are unknown or may be wrong.
std::optional<UnseenSource> unknown_cgroups(const InvestigationResult& result);

}  // namespace kmt
