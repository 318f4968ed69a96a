// SPDX-License-Identifier: GPL-2.0-or-later
// Growth by the kernel's own account: slab caches and lines of /proc/meminfo.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/growth/investigation.hpp"
#include "results/series/memory_series.hpp"

namespace kmt {

inline constexpr std::string_view kObjectsOf = "objects of ";  // as objects_name() begins

struct StateSeries {
  std::string name;
  bool cache = false;
  bool reclaimable = false;
  double seconds_between = 0;
  std::vector<double> values;
  std::string kind;            // as StateGrowth has it
  std::vector<double> judged;  // the values, after interpolate_setup_window()
};

// Returns caches by their classes, and the lines of the kernel's own memory. If one cache accounts for nearly all
// growth in a class, uses that cache's values.
std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states);
// Draws a line through these seconds since the first state where caches rose and fell again, as what the kernel keeps
// for a recording does.
void interpolate_setup_window(double begin_seconds, double end_seconds, std::vector<StateSeries>& states);
// Finds growth that started while a state was watched and that the time before it hides. Empty if the state was as high
// before. `judged`: number of series that are judged.
std::optional<LateRise> late_rise(const StateSeries& series, double threshold, std::size_t judged);
// Returns states that changed, the largest rise first. The threshold is in bytes per second.
std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold);
// Marks what the kernel keeps for a recording: it came as that was begun, between these seconds since the first state
// (0 and 0: not known), and nothing else moved as much.
void mark_recorders(double begin_seconds, double end_seconds, std::vector<StateGrowth>& states);
// Marks what rose by much after that.
void mark_unfollowed(double seconds, std::vector<StateGrowth>& states);

// The name that all kinds of a kmalloc size share, those of kmem_buckets_create() too (Linux 6.11); reclaimable ones
// and those for DMA stay what they are.
std::string class_of(const std::string& cache);
// True for the sum of all caches with objects of one size; these are states of their own, too.
bool is_of_a_size(std::string_view name);
bool follows_processes(std::string_view name);  // that run: no finding by itself

}  // namespace kmt
