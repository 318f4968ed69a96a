// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/states.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/series/memory_series.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "results/growth/investigation.hpp"
#include "snapshot/parse.hpp"
#include "trace/state/sheaves.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

// Sums the objects of equal size in all caches, except kmalloc caches, which need no sums: kmalloc has its own events.
std::vector<MemorySeries> objects_by_size(const std::vector<StateSample>& states) {
  std::map<std::uint64_t, MemorySeries> by_size;
  for (const StateSample& state : states)
    for (const SlabInfo& cache : parse_slabinfo(text_of(state, "slabinfo")).caches) {
      const std::uint64_t bytes = cache.object_bytes;
      if (cache.name.starts_with("kmalloc-") || bytes == 0 || bytes >= 1'000'000'000) continue;
      MemorySeries& series = by_size[bytes];
      if (series.name.empty()) series = {MemorySource::slabinfo_objects, objects_name(bytes), {}};
      if (series.points.empty() || series.points.back().time_ns != state.ticks)
        series.points.push_back({state.ticks, 0});
      series.points.back().value += static_cast<double>(cache.active_objects) * static_cast<double>(bytes);
    }
  std::vector<MemorySeries> all;
  for (auto& [bytes, series] : by_size)
    if (std::ranges::adjacent_find(series.points, std::not_equal_to(), &MemorySeriesPoint::value) !=
        series.points.end())
      all.push_back(std::move(series));
  return all;
}

// Returns the memory of the unreclaimable caches that reports of OOM kills list.
std::vector<MemorySeries> unreclaimable_caches(const std::vector<StateSample>& states, std::uint32_t page_size) {
  std::map<std::string, MemorySeries> by_name;
  for (const StateSample& state : states) {
    if (text_of(state, "oom").empty()) continue;
    for (const SlabTotal& cache : parse_snapshot(state, page_size).unreclaimable_slabs) {
      MemorySeries& series = by_name[cache.name];
      if (series.name.empty()) series = {MemorySource::slabinfo_objects, cache.name, {}};
      series.points.push_back({state.ticks, static_cast<double>(cache.used_bytes)});
    }
  }
  std::vector<MemorySeries> all;
  all.reserve(by_name.size());
  for (auto& [name, series] : by_name) all.push_back(std::move(series));
  return all;
}

// Subtracts the BPF maps of this process, because they are vmalloc memory and would look like growth.
void subtract_own_maps(const std::vector<StateSample>& states, std::vector<MemorySeries>& all) {
  const auto vmalloc = std::ranges::find_if(all, [](const MemorySeries& series) {
    return series.source == MemorySource::meminfo && series.name == "VmallocUsed";
  });
  if (vmalloc == all.end()) return;
  for (const StateSample& state : states)
    if (const auto own = find_proc_value(text_of(state, "recorder"), "bpf_maps"))
      for (MemorySeriesPoint& point : vmalloc->points)
        if (point.time_ns == state.ticks) point.value = std::max(point.value - static_cast<double>(own->value), 0.0);
}

// Returns for each cache how many bytes of its slabs may be full of free objects in sheaves. Empty if the kernel has no
// sheaves, or if its release is unknown.
std::vector<MemorySeries> slab_bytes_of_sheaves(const std::vector<StateSample>& states, std::uint32_t page_size) {
  StateSample machine_and_caches;
  const StateSample* last = nullptr;
  for (const StateSample& state : states) {
    for (const char* const name : {"uname", "zoneinfo"})
      if (const std::string_view text = text_of(state, name);
          !text.empty() && text_of(machine_and_caches, name).empty())
        machine_and_caches.texts.emplace_back(name, text);
    if (!text_of(state, "slabinfo").empty()) last = &state;
  }
  std::vector<MemorySeries> all;
  if (last == nullptr) return all;
  machine_and_caches.texts.emplace_back("slabinfo", text_of(*last, "slabinfo"));
  for (const auto& [cache, bound] : sheaf_bounds(parse_snapshot(machine_and_caches, page_size)))
    all.push_back({MemorySource::slab_sheaves, cache, {{last->ticks, static_cast<double>(bound.slab_bytes)}}});
  return all;
}

}  // namespace

double page_frees_per_s(const std::vector<StateSample>& states) {
  if (states.empty() || states.back().ticks <= states.front().ticks) return 0;
  const auto first = find_proc_value(text_of(states.front(), "vmstat"), "pgfree");
  const auto last = find_proc_value(text_of(states.back(), "vmstat"), "pgfree");
  if (!first || !last || last->value < first->value) return 0;
  return static_cast<double>(last->value - first->value) * 1e9 /
         static_cast<double>(states.back().ticks - states.front().ticks);
}

std::optional<MemorySeriesPoint> unaccounted_in(const StateSample& state, std::uint32_t page_size) {
  if (text_of(state, "zoneinfo").empty()) return std::nullopt;
  try {
    const SnapshotResult stock = take_stock(parse_snapshot(state, page_size));
    const auto line = std::ranges::find(stock.sheet, kUnaccounted, &BalanceLine::id);
    if (line == stock.sheet.end() || !line->known) return std::nullopt;
    return MemorySeriesPoint{state.ticks, static_cast<double>(line->bytes)};
  } catch (const Error&) {  // meminfo of this copy has no MemTotal, but the other files of the copy are still useful
    return std::nullopt;
  }
}

std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size) {
  std::vector<MemorySeriesPoint> unaccounted;
  for (const StateSample& state : states)
    if (const auto point = unaccounted_in(state, page_size)) unaccounted.push_back(*point);
  return states_over_time(states, page_size, unaccounted);
}

std::vector<MemorySeries> states_over_time(const std::vector<StateSample>& states, std::uint32_t page_size,
                                           const std::vector<MemorySeriesPoint>& unaccounted) {
  std::vector<MemorySeries> all = memory_series_of(states, page_size);
  subtract_own_maps(states, all);
  for (MemorySeries& series : objects_by_size(states)) all.push_back(std::move(series));
  for (MemorySeries& series : unreclaimable_caches(states, page_size)) all.push_back(std::move(series));
  for (MemorySeries& series : slab_bytes_of_sheaves(states, page_size)) all.push_back(std::move(series));
  if (!unaccounted.empty()) all.push_back({MemorySource::meminfo, std::string(kUnaccounted), unaccounted});
  return all;
}

}  // namespace kmt
