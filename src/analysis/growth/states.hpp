// SPDX-License-Identifier: GPL-2.0-or-later
// Finds growth in the kernel's own account: slab caches and lines of /proc/meminfo.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/growth/investigation.hpp"
#include "results/series/memory_series.hpp"

namespace kmt {

inline constexpr std::string_view kObjectsOf = "objects of ";  // prefix of names from objects_name()

struct StateSeries {
  std::string name;
  bool cache = false;
  bool reclaimable = false;
  double seconds_between = 0;
  std::vector<double> values;
  std::string kind;            // as in StateGrowth
  std::vector<double> judged;  // `values` after interpolate_setup_window()
};

// Returns slab caches by class, and the lines for the kernel's own memory. If one cache accounts for nearly all growth
// in a class, uses that cache's values.
std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states);
// Replaces the values between these seconds (since the first state) by a straight line if a cache rose and fell again.
// The setup of a recording causes such peaks.
void interpolate_setup_window(double begin_seconds, double end_seconds, std::vector<StateSeries>& states);
// Finds growth that started late while a state was watched, and that the whole series therefore does not show. Empty if
// the state was as high before. `judged` is the number of series that are judged.
std::optional<LateRise> late_rise(const StateSeries& series, double threshold, std::size_t judged);
// Returns states that changed, the largest rise first. The threshold is in bytes per second.
std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold);
// Marks memory that the kernel keeps for a recording: its rise occurred while the recording was set up, and no other
// change was as large. The seconds since the first state are when the setup began and ended (both 0: unknown).
void mark_recorders(double begin_seconds, double end_seconds, std::vector<StateGrowth>& states);
// Marks states that rose by much after these seconds.
void mark_unfollowed(double seconds, std::vector<StateGrowth>& states);

// Returns the common name of all kmalloc caches of one size, including those of kmem_buckets_create() (Linux 6.11).
// Reclaimable and DMA caches keep their own names.
std::string class_of(const std::string& cache);
// True for the sum of all caches with objects of one size. These sums are separate states.
bool is_of_a_size(std::string_view name);
bool follows_processes(std::string_view name);  // grow with the number of processes, so no finding by themselves

}  // namespace kmt
