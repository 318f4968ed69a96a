// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's memory counters over time, and unaccounted memory from balance sheets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// For samples by time, whose ticks are nanoseconds. With zoneinfo, includes unaccounted memory. Also counts all objects
// of each changing size, for recordings without names of caches.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size);
// The same with the unaccounted memory of each sample, for repeated calls: a balance sheet is slow.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::vector<MemorySeriesPoint>& unaccounted);
// Empty: unknown.
std::optional<MemorySeriesPoint> unaccounted_in(const StateSample& state, std::uint32_t page_size);

// Pages freed per second, from the first to the last sample: an upper limit of the number of frees. 0: unknown.
double page_frees_per_s(const std::vector<StateSample>& states);

}  // namespace kmt
