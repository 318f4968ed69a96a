// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the page frames at the start and at the end of an investigation.
#pragma once

#include <cstdint>

#include "results/growth/investigation.hpp"
#include "results/snapshot/page_census.hpp"

namespace kmt {

CensusChange census_change(const PageCensus& before, const PageCensus& after, std::uint64_t page_size);

}  // namespace kmt
