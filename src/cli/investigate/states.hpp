// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's account of its memory over time, with what only a balance sheet tells.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Of samples by time, whose ticks are nanoseconds. With zoneinfo among their texts, also what nobody accounts for. And
// all objects of each size that changes, for what was recorded without the names of caches.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size);
// The same with what nobody accounts for in each of them, for who asks again and again: a balance sheet takes long.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::vector<MemorySeriesPoint>& unaccounted);
// Empty: it does not tell.
std::optional<MemorySeriesPoint> unaccounted_in(const StateSample& state, std::uint32_t page_size);

// How many pages were freed a second, from the first to the last of them: at most so many frees there were. 0: they do
// not tell.
double page_frees_per_s(const std::vector<StateSample>& states);

}  // namespace kmt
