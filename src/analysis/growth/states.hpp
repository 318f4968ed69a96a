// SPDX-License-Identifier: GPL-2.0-or-later
// Finds growth in the kernel's own counters: the sizes of slab caches and lines of /proc/meminfo. One such counter over
// time is called a state.
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
  std::string kind;            // the same value as StateGrowth::kind
  std::vector<double> judged;  // `values` after interpolate_setup_window(); used to test for growth
};

// Returns series for slab caches, one for each class (see class_of()), and for lines of meminfo that count kernel
// memory. If one cache accounts for nearly all growth in a class, the series has the values of that cache.
std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states);
// Replaces the values between two times by a straight line if a cache rose and fell again between them. Such peaks are
// caused by the set-up of a recording. The times are in seconds since the first value.
void interpolate_setup_window(double begin_seconds, double end_seconds, std::vector<StateSeries>& states);
// Finds growth that began late in the series, even if the series as a whole has no trend. Empty if an earlier value was
// as high. `judged` is the number of series that are tested for growth.
std::optional<LateRise> late_rise(const StateSeries& series, double threshold, std::size_t judged);
// Returns the states that changed, the largest rise first. The threshold is in bytes per second.
std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold);
// Marks memory that the kernel keeps for a recording: nearly its whole rise occurred during the set-up, and other
// changes were small. The times of the set-up are in seconds since the first value (both 0: unknown).
void mark_recorders(double begin_seconds, double end_seconds, std::vector<StateGrowth>& states);
// Marks kmalloc caches and SUnreclaim if at least half of their rise may be accounting data of slabs. The series of
// these data are in `states`. Such a rise is not growth of its own: it follows the slabs.
void mark_slab_accounting(const std::vector<MemorySeries>& states, std::vector<StateGrowth>& grown);
// Marks caches, and SUnreclaim, if their whole rise may be free objects in sheaves. The maximum numbers of these
// objects are in `states`. Such a rise is not certain growth.
void mark_sheaves(const std::vector<MemorySeries>& states, std::vector<StateGrowth>& grown);
// Marks states that rose strongly after this time, in seconds since the first value.
void mark_unfollowed(double seconds, std::vector<StateGrowth>& states);

// Returns the common name of all kmalloc caches of one size. Caches made by kmem_buckets_create() (Linux 6.11) are
// included. Reclaimable and DMA caches keep their own names.
std::string class_of(const std::string& cache);
// True if the name stands for the sum of all caches with objects of one size. Such a sum is a separate state.
bool is_of_a_size(std::string_view name);
// True if the value of a counter depends on the number of processes. Its growth alone is not a finding.
bool follows_processes(std::string_view name);

}  // namespace kmt
