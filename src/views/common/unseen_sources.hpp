// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the data sources that an investigation could not read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/growth/investigation.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// Returns an entry for each kind of loss of samples.
std::vector<UnseenSource> unseen_of(const HeapLosses& losses, std::uint64_t not_kept);

// Returns an entry if the cgroups of all found processes are unknown or may be wrong.
std::optional<UnseenSource> unknown_cgroups(const InvestigationResult& result);

}  // namespace kmt
