// SPDX-License-Identifier: GPL-2.0-or-later
// Converts samples of the kernel's memory counters into series over time. Also computes unaccounted memory from balance
// sheets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// `states` must be sorted by time, with ticks in nanoseconds. If the states have zoneinfo, includes unaccounted memory.
// Also sums up all objects of each size that changes, for recordings without names of caches.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size);
// Like the function above, but takes the unaccounted memory as an argument: computing it for each call would be slow.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::vector<MemorySeriesPoint>& unaccounted);
// Empty: unknown.
std::optional<MemorySeriesPoint> unaccounted_in(const StateSample& state, std::uint32_t page_size);

// Returns the number of pages freed per second between the first and the last sample. This is an upper limit of the
// number of frees. 0 means unknown.
double page_frees_per_s(const std::vector<StateSample>& states);

}  // namespace kmt
