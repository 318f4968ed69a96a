// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's account of its memory over time, with what only a balance sheet tells.
#pragma once

#include <cstdint>
#include <vector>

#include "results/memory_series.hpp"
#include "trace/state_sample.hpp"

namespace kmt {

// Of samples by time, whose ticks are nanoseconds. With zoneinfo among their texts, also what nobody accounts for. And
// all objects of each size that changes, for what was recorded without the names of caches.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size);

}  // namespace kmt
