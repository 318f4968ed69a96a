// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's account of its memory over time, with what only a balance sheet tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/memory_series.hpp"
#include "trace/state_sample.hpp"

namespace kmt {

// Of samples by time, whose ticks are nanoseconds. With zoneinfo among their texts, also what nobody accounts for. Of a
// `release` that names no caches where it allocates (before Linux 6.1, or not known), also all objects of each size.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::string& release);

}  // namespace kmt
