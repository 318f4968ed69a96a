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

// Returns the values of states over time. `states` must be sorted by time, with ticks in nanoseconds. The result
// includes unaccounted memory if the states have zoneinfo. It also has the total memory of the objects of each size, if
// this total changes, because some kernels' events do not name caches.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size);
// Does the same as the function above. Takes the unaccounted memory as an argument, because computing it in each call
// would be slow.
std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::vector<MemorySeriesPoint>& unaccounted);
// Returns the unaccounted memory; empty if unknown.
std::optional<MemorySeriesPoint> unaccounted_in(const StateSample& state, std::uint32_t page_size);

// Returns the number of pages freed per second between the first and the last state. A free event may free several
// pages, so the number of events is at most this number. Returns 0 if unknown.
double page_frees_per_s(const std::vector<StateSample>& states);

}  // namespace kmt
