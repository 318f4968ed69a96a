// SPDX-License-Identifier: GPL-2.0-or-later
// What grows by the kernel's own account: slab caches and lines of /proc/meminfo.
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

// Caches by their classes, and those lines that tell of the kernel's own memory. Of a class of which one cache takes
// nearly all of the rise the values are that one's.
std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states);
// Draws a line through these seconds since the first state where caches rose and fell again, as what the kernel keeps
// for a recording does.
void interpolate_setup_window(double begin_seconds, double end_seconds, std::vector<StateSeries>& states);
// Of what does not surely rise all the time: what began while it was watched is hidden by the time before it. Not where
// it was as high before. `judged`: series that are looked at.
std::optional<LateRise> late_rise(const StateSeries& series, double threshold, std::size_t judged);
// What changed, the largest rise first; sure above the threshold, bytes a second.
std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold);
// Marks what the kernel keeps for a recording: it came as that was begun, between these seconds since the first state
// (0 and 0: not known), and nothing else moved as much.
void mark_recorders(double begin_seconds, double end_seconds, std::vector<StateGrowth>& states);
// Marks what rose by much after that.
void mark_unfollowed(double seconds, std::vector<StateGrowth>& states);

// The name that all kinds of a kmalloc size share, those of kmem_buckets_create() too (Linux 6.11); reclaimable ones
// and those for DMA stay what they are.
std::string class_of(const std::string& cache);
// Of all caches with objects of one size, which are states of their own, too.
bool is_of_a_size(std::string_view name);
bool follows_processes(std::string_view name);  // that run: no finding by itself

}  // namespace kmt
