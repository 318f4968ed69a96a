// SPDX-License-Identifier: GPL-2.0-or-later
// One frame of `top`: current allocations and live memory of the running kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/heap/profile.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

// The kind of object that each row describes.
enum class TopView : std::uint8_t {
  call_sites,
  stacks,
  processes,
  cgroups,
  caches,
  orders,
  modules,
  net,
  subsystems,
  directories,
};
constexpr std::size_t kTopViews = 10;

// True if only BPF programs provide this view.
constexpr bool needs_bpf(TopView view) {
  return view == TopView::stacks || view == TopView::cgroups || view == TopView::net;
}

struct TopViewInfo {
  TopView view;
  std::string_view name;  // name of the view in the option --view
  std::string_view header;
  std::string_view title;
};
std::span<const TopViewInfo> top_views();
const TopViewInfo& info_of(TopView view);

// Returns a back end in words, such as "counted by BPF programs". `backend` has a value as in TopResult and StatResult.
std::string_view backend_text(std::string_view backend);

struct TopRow {
  std::string name;
  std::uint32_t process = 0;         // only in rows of processes; 0: an interrupt, or a merged row
  std::vector<std::string> threads;  // only in rows of processes: current names of its threads, each once, sorted
  // Counts in the last interval (`_now`) and since the start. The counts are exact, except in rows of stacks, which are
  // estimated from samples.
  std::uint64_t events_now = 0;
  std::uint64_t bytes_now = 0;
  std::uint64_t events = 0;  // number of allocations, including failed ones
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::optional<Estimate> live_bytes;  // live bytes of allocations since the start; empty if there are no samples
  std::vector<std::uint64_t> stack;    // only in rows of stacks; innermost frame first
  // Only in rows of the view net: objects that were allocated and freed, in the last interval and since the start.
  std::optional<CacheCount> objects_now;
  std::optional<CacheCount> objects;
};

struct TopTotals {
  std::uint64_t events_now = 0;
  std::uint64_t bytes_now = 0;
  std::optional<Estimate> live_bytes;  // empty if there are no samples
};

struct TopResult {
  std::string backend;    // "bpf", "hist" or "ring-buffer"
  std::string selection;  // text of the selected tasks or cgroup; empty: the whole machine
  TopView view = TopView::call_sites;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t interval_ns = 0;
  TopTotals slab;
  TopTotals pages;
  std::vector<TopRow> rows;
  CacheCounting counting = CacheCounting::not_requested;  // whether the view net has rows
  UncountedObjects uncounted;                             // of the view net
  std::uint64_t rows_merged = 0;  // number of rows merged into "[others]" because there were too many
  HeapLosses losses;
  std::uint64_t replaced = 0;           // number of samples whose address was allocated again although no free was seen
  std::optional<std::uint64_t> memory;  // bytes of kernel memory that kmemtrace uses; empty if it is unknown
  double own_cpu = 0;  // CPU time of kmemtrace in the interval, as a share of one CPU: 0.01 is one percent
};

// The columns by which rows can be sorted in descending order.
enum class TopColumn : std::uint8_t { bytes_now, events_now, live, allocated, events, wasted, failed, net };
struct TopColumnInfo {
  TopColumn column;
  std::string_view name;  // name of the column in the option --sort
  std::string_view header;
  std::string_view meaning;
};
// Returns all columns except `net`, by which the view net is always sorted.
std::span<const TopColumnInfo> top_columns();
double value_of(const TopRow& row, TopColumn column);
void sort_rows(std::vector<TopRow>& rows, TopColumn column);

// Returns the rows of the view net: one for each cache in `since_start`.
std::vector<TopRow> rows_of_caches(const CacheCounts& since_start, const CacheCounts& now);

}  // namespace kmt
