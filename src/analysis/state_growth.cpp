// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/state_growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/rise.hpp"
#include "analysis/slab_account.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

double seconds_between(const std::vector<MemorySeriesPoint>& points) {
  if (points.size() < 2) return 1;
  const double all = static_cast<double>(points.back().time_ns - points.front().time_ns) / 1e9;
  return std::max(all / static_cast<double>(points.size() - 1), 1e-9);
}

// As if they had been read in equal steps: where none was read for a while, growth is no jump.
std::vector<double> even_values(const std::vector<MemorySeriesPoint>& points) {
  const auto begin = static_cast<double>(points.front().time_ns);
  const double step = (static_cast<double>(points.back().time_ns) - begin) / static_cast<double>(points.size() - 1);
  std::vector<double> values;
  std::size_t behind = 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double time = begin + step * static_cast<double>(i);
    while (behind + 1 < points.size() && static_cast<double>(points[behind].time_ns) < time) ++behind;
    const auto before = static_cast<double>(points[behind - 1].time_ns);
    const double between = static_cast<double>(points[behind].time_ns) - before;
    const double part = between > 0 ? std::clamp((time - before) / between, 0.0, 1.0) : 1;
    values.push_back(std::lerp(points[behind - 1].value, points[behind].value, part));
  }
  return values;
}

// Lines of meminfo that tell of the kernel's own memory. Others are sums of these, or users'.
bool is_kernels_line(std::string_view name) {
  constexpr std::array<std::string_view, 6> kLines = {"SUnreclaim",  "KernelStack", "PageTables",
                                                      "VmallocUsed", "Percpu",      kUnaccounted};
  return std::ranges::find(kLines, name) != kLines.end();
}

}  // namespace

std::string class_of(const std::string& cache) {
  constexpr std::array<std::string_view, 3> kKinds = {"kmalloc-", "msg_msg-", "memdup_user-"};
  if (std::ranges::none_of(kKinds, [&cache](std::string_view kind) { return cache.starts_with(kind); }) ||
      cache.starts_with("kmalloc-rcl-") || cache.find("dma") != std::string::npos)
    return cache;
  try {
    return kmalloc_name(parse_size(cache.substr(cache.rfind('-') + 1)));
  } catch (const Error&) {
    return cache;
  }
}

bool is_of_a_size(std::string_view name) { return name.starts_with(kObjectsOf); }

bool follows_processes(const StateSeries& series) {
  return series.name == "PageTables" || series.name == "KernelStack";
}

std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states) {
  std::vector<StateSeries> all;
  std::map<std::string, std::size_t> caches;
  for (const MemorySeries& series : states) {
    const bool is_cache = series.source == MemorySource::slabinfo_objects;
    if (series.points.size() < 2 ||
        !(is_cache || (series.source == MemorySource::meminfo && is_kernels_line(series.name))))
      continue;
    const std::string name = is_cache ? class_of(series.name) : series.name;
    const std::vector<double> values = even_values(series.points);
    const auto known = is_cache ? caches.find(name) : caches.end();
    if (known != caches.end() && all[known->second].values.size() == values.size()) {
      for (std::size_t i = 0; i < values.size(); ++i) all[known->second].values[i] += values[i];
      continue;
    }
    if (is_cache) caches[name] = all.size();
    all.push_back({name, is_cache, is_cache && is_shrinkable(name, {}), seconds_between(series.points), values});
  }
  return all;
}

std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold) {
  std::vector<StateGrowth> grown;
  for (const StateSeries& series : states) {
    if (series.values.front() == series.values.back() || is_of_a_size(series.name)) continue;
    const Rise rise = rise_of(series.values, series.seconds_between, threshold, states.size());
    const bool counts = !series.reclaimable && !follows_processes(series);
    grown.push_back({series.name, series.cache, series.values.front(), series.values.back(), rise.trend,
                     counts && rise.sure, series.reclaimable, 0, series.values, series.seconds_between});
  }
  std::ranges::stable_sort(grown, std::greater(), [](const StateGrowth& one) { return one.last - one.first; });
  return grown;
}

}  // namespace kmt
