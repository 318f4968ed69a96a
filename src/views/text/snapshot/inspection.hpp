// SPDX-License-Identifier: GPL-2.0-or-later
// Writes what an investigation finds apart from growth: the objects in large slab caches, and changes of page frames.
#pragma once

#include <cstddef>
#include <string>

#include "results/growth/investigation.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the kinds of objects in large caches, with commands that inspect them. Empty if no objects were sampled.
std::string text_large_caches(const InvestigationResult& result, std::size_t kinds, const TextStyle& style);
// Returns what the added pages of other kernel memory have in common. Empty if this memory did not grow clearly.
std::string text_census_change(const InvestigationResult& result, const TextStyle& style);
// Returns the owners whose memory grew clearly. Memory that other counters contain, at least in part, has its own
// title. Empty if no owner's memory grew clearly.
std::string text_owner_growth(const InvestigationResult& result, std::size_t most, const TextStyle& style);

}  // namespace kmt
